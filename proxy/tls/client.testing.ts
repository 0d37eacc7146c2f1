// A TLS client for tests that says what came of it; not used by the proxy.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'

export interface Session {
  readonly socket: tls.TLSSocket
  /** Common name of the server's certificate. */
  readonly commonName: string
}

/** Rejects when the handshake does. The certificate is not verified: which one came is the question. */
export async function shakeHands(port: number, options: tls.ConnectionOptions = {}): Promise<Session> {
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  socket.on('error', () => {})
  const { subject } = socket.getPeerCertificate()
  return { socket, commonName: String(subject.CN) }
}

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** One request on an open session; the answer has a content-length. */
export async function ask(socket: tls.TLSSocket, host: string, path = '/'): Promise<Answer> {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
  let text = ''
  for (;;) {
    const end = text.indexOf('\r\n\r\n')
    if (end >= 0) {
      const head = text.slice(0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      const body = text.slice(end + 4)
      if (body.length >= length) return { status: Number(head.slice(9, 12)), head, body }
    }
    const next = socket.read() as Buffer | null // no encoding is set, so it gives buffers
    if (next !== null) text += next.toString('latin1')
    else if (socket.readableEnded || socket.destroyed) throw new Error(`connection closed after: ${text}`)
    else await Promise.race([once(socket, 'readable'), once(socket, 'close')])
  }
}

/** A handshake and one request. */
export async function get(
  port: number,
  servername: string,
  host = servername,
): Promise<Answer & { commonName: string }> {
  const { socket, commonName } = await shakeHands(port, { servername })
  try {
    return { ...(await ask(socket, host)), commonName }
  } finally {
    socket.destroy()
  }
}

/** The first flight of a client for that name. */
export async function captureHello(servername: string): Promise<Buffer> {
  const server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[net.Socket]> // what a TCP server emits
  const own = (server.address() as net.AddressInfo).port // a listening TCP server has one
  const client = shakeHands(own, { servername }).catch(() => {})
  const [socket] = await accepted
  const [hello] = (await once(socket, 'data')) as [Buffer] // no encoding is set
  socket.destroy()
  server.close()
  await client
  return hello
}
