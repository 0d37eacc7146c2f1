// frontend.connect: the modes of CONNECT.
import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { expect } from 'vitest'
import { all, replacing, type ConformanceCase } from './suite/case.ts'
import { overTls, secured, textFrom } from './suite/https.ts'

const SAMPLE = 'frontend-connect.yaml'

interface Opened {
  readonly status: number
  readonly socket: Socket
}

async function connect(port: number, authority: string): Promise<Opened> {
  const headers = { host: authority }
  const call = request({ host: '127.0.0.1', port, method: 'CONNECT', path: authority, headers, agent: false })
  call.end()
  const [{ statusCode }, socket] = (await once(call, 'connect')) as [{ statusCode: number }, Socket] // as documented
  socket.on('error', () => undefined)
  return { status: statusCode, socket }
}

async function ask(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write('GET /inside HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n')
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

/** CONNECT on an existing connection. */
async function connectOn(socket: TLSSocket, authority: string): Promise<string> {
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer] // no encoding is set
  return head.toString('latin1').split('\r\n', 1)[0] ?? ''
}

const overHttps = overTls('frontend-connect')

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ConnectRoute',
    description: 'a raw connection to the backend of the route, logged when it is over',
    sample: SAMPLE,
    async run(gateway) {
      // Leaves an open HTTP connection to the backend, which must not be used for a tunnel.
      expect((await gateway.echo('/')).server).toBe('echo')
      const { status, socket } = await connect(gateway.port, 'anything.example.com:443')
      expect(status).toBe(200)
      expect(await ask(socket)).toMatch(/"server": "echo"[\s\S]*"path": "\/inside"/)
      await expect.poll(() => gateway.log()).toMatch(/http.method=CONNECT http.host=anything.example.com:443/)
    },
  },
  {
    shortName: 'ConnectDeny',
    description: 'CONNECT is rejected with 405',
    sample: SAMPLE,
    change: replacing('mode: Route', 'mode: Deny'),
    async run(gateway) {
      const { status, socket } = await connect(gateway.port, 'anything.example.com:443')
      socket.destroy()
      expect(status).toBe(405)
      expect((await gateway.echo('/')).server).toBe('echo')
    },
  },
  {
    shortName: 'ConnectTunnel',
    description: 'the tunnel carries a connection to the port of the request',
    sample: SAMPLE,
    change: replacing('mode: Route', 'mode: Tunnel'),
    async run(gateway) {
      const { status, socket } = await connect(gateway.port, `10.0.0.1:${gateway.port}`)
      expect(status).toBe(200)
      expect(await ask(socket)).toContain('"path": "/inside"')
      const other = await connect(gateway.port, '10.0.0.1:1')
      other.socket.destroy()
      expect(other.status).toBe(404)
    },
  },
  {
    shortName: 'ConnectRouteTLS',
    description: 'over TLS: a raw connection to the backend of the route',
    sample: SAMPLE,
    change: overHttps,
    async run({ port }) {
      const socket = await secured({ port })
      expect(await connectOn(socket, 'anything.example.com:443')).toBe('HTTP/1.1 200 OK')
      expect(await textFrom(socket, '/inside')).toMatch(/"server": "echo"[\s\S]*"path": "\/inside"/)
    },
  },
  {
    shortName: 'ConnectDenyTLS',
    description: 'over TLS: CONNECT is rejected with 405',
    sample: SAMPLE,
    change: all(replacing('mode: Route', 'mode: Deny'), overHttps),
    async run({ port }) {
      const socket = await secured({ port })
      expect(await connectOn(socket, 'anything.example.com:443')).toBe('HTTP/1.1 405 Method Not Allowed')
      socket.destroy()
      expect(await textFrom(await secured({ port }), '/')).toContain('"server": "echo"')
    },
  },
  {
    shortName: 'ConnectTunnelTLS',
    description: 'over TLS: the tunnel carries a connection to the port, with its own handshake',
    sample: SAMPLE,
    change: all(replacing('mode: Route', 'mode: Tunnel'), overHttps),
    async run({ port }) {
      const outer = await secured({ port })
      expect(await connectOn(outer, `10.0.0.1:${port}`)).toBe('HTTP/1.1 200 OK')
      const inner = await secured({ socket: outer })
      expect(await textFrom(inner, '/inside')).toContain('"path": "/inside"')
    },
  },
]
