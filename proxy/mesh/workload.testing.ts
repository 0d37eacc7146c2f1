// A workload of a mesh for tests: an HBONE server of node:http2 that connects its tunnels to local ports; not used by
// the proxy.
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { issue, type Issued } from './authority.testing.ts'

export interface TestWorkload {
  readonly port: number
  /** `address:port` of each tunnel. */
  readonly tunnels: string[]
  /** subjectAltName of each client. */
  readonly peers: (string | undefined)[]
  close(): void
}

export async function startWorkload(root: Issued, uri: string): Promise<TestWorkload> {
  const own = issue({ issuer: root, uris: [uri], commonName: 'workload' })
  const server = http2.createSecureServer({
    cert: own.certificate,
    key: own.privateKey,
    ca: root.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  })
  const sessions = new Set<http2.ServerHttp2Session>()
  const tunnels: string[] = []
  const peers: (string | undefined)[] = []
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => undefined)
  })
  server.on('secureConnection', (socket) => void peers.push(socket.getPeerX509Certificate()?.subjectAltName))
  server.on('stream', (stream, fields) => {
    const authority = String(fields[':authority'])
    tunnels.push(authority)
    const socket = net.connect({ host: '127.0.0.1', port: Number(authority.split(':').at(-1)) })
    stream.on('error', () => socket.destroy())
    stream.on('close', () => socket.destroy())
    socket.on('error', () => stream.close(http2.constants.NGHTTP2_CONNECT_ERROR))
    socket.on('connect', () => {
      stream.respond({ ':status': 200 })
      stream.pipe(socket)
      socket.pipe(stream)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as net.AddressInfo).port, // a listening TCP server has one
    tunnels,
    peers,
    close() {
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
}
