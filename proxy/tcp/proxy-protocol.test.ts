// PROXY headers before everything a port may speak, through a real proxy.
// @module-tag full
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '#api/ir/types.gen.ts'
import { certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { ask } from '../tls/client.testing.ts'
import { startTlsProxy, type TestListener, type TlsTestProxy } from '../tls/proxy.testing.ts'
import { proxyHeader2 } from '../socket/proxy-header.testing.ts'

const ADDRESSES = { sourceAddress: '203.0.113.7', sourcePort: 4711, localAddress: '198.51.100.1', localPort: 443 }
const HEADER = proxyHeader2({ ...ADDRESSES, additions: Buffer.alloc(100, 3) })
const OTHER = proxyHeader2({ ...ADDRESSES, sourceAddress: '203.0.113.8' })
const LOCAL = Buffer.from('\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00', 'latin1')
const SEEN = '=source.address + " " + string(source.port) + " " + source.rawAddress + " " + destination.address'
const TRANSPORTED = '203.0.113.7 4711 127.0.0.1 198.51.100.1'
const REQUEST = 'GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n'
const ONLY_TRANSPORTED: Policy['policy'] = {
  frontend: { networkAuthorization: { action: 'Allow', matchExpressions: ['source.address == "203.0.113.7"'] } },
}
const pair = certificateFor({ commonName: 'a.test', names: ['DNS:a.test'] })

let proxy: TlsTestProxy
const ports = { http: 0, https: 0, passed: 0, tcp: 0 }
const servers: net.Server[] = []
const sockets = new Set<net.Socket>()

const rule = (mode: 'Strict' | 'Optional'): Policy['policy'] => ({
  frontend: { proxyProtocol: { version: 'All', mode } },
})

async function backend(server: net.Server): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: net.Socket) => socket.on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as net.AddressInfo).port // a listening TCP server has one
}

let listeners: TestListener[]
let backends: Record<string, { static: { host: string; port: number } }>

beforeAll(async () => {
  for (const name of ['http', 'https', 'passed', 'tcp'] as const) ports[name] = await freePort()
  const plain = await backend(net.createServer((socket) => socket.end('hello')))
  const secure = await backend(
    tls.createServer({ cert: pair.certificate, key: pair.privateKey }, (socket) => socket.end('hello')),
  )
  listeners = [
    { name: 'http', port: ports.http, protocol: 'HTTP', answers: SEEN },
    { name: 'https', port: ports.https, protocol: 'HTTPS', hostname: 'a.test', pair, answers: SEEN },
    { name: 'passed', port: ports.passed, protocol: 'TLS', tls: { mode: 'Passthrough' }, backends: [['secure', 1]] },
    { name: 'tcp', port: ports.tcp, protocol: 'TCP', backends: [['plain', 1]] },
  ]
  backends = {
    plain: { static: { host: '127.0.0.1', port: plain } },
    secure: { static: { host: '127.0.0.1', port: secure } },
  }
  proxy = await startTlsProxy({ listeners, backends, policies: [rule('Strict')] })
})

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})

afterAll(async () => {
  await proxy.stop()
  for (const server of servers) server.close()
})

async function connect(port: number, header: Buffer | string = ''): Promise<net.Socket> {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
  sockets.add(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(header)
  return socket
}

async function textOf(socket: net.Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await once(socket, 'close')
  return text
}

async function secured(port: number, header: Buffer): Promise<tls.TLSSocket> {
  const socket = await connect(port, header)
  const secure = tls.connect({ socket, servername: 'a.test', rejectUnauthorized: false })
  secure.on('error', () => {})
  await once(secure, 'secureConnect')
  return secure
}

describe('a transported address', () => {
  it('reaches HTTP/1.1, in whatever pieces it comes', async () => {
    const whole = await connect(ports.http, Buffer.concat([HEADER, Buffer.from(REQUEST)]))
    expect(await textOf(whole)).toContain(TRANSPORTED)
    const slow = await connect(ports.http)
    const text = textOf(slow)
    for (const byte of HEADER) {
      slow.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    slow.write(REQUEST)
    expect(await text).toContain(TRANSPORTED)
  })

  it('stays for all requests of a connection', async () => {
    const socket = await connect(ports.http, HEADER)
    const keptAlive = 'GET / HTTP/1.1\r\nhost: a.test\r\n\r\n'
    socket.write(keptAlive + keptAlive + REQUEST)
    expect((await textOf(socket)).split(TRANSPORTED)).toHaveLength(4)
  })

  it('reaches HTTP/2 with prior knowledge', async () => {
    const socket = await connect(ports.http, HEADER)
    const session = http2.connect('http://a.test', { createConnection: () => socket })
    session.on('error', () => {})
    const stream = session.request({ ':path': '/' })
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(stream, 'end')
    session.destroy()
    expect(text).toBe(TRANSPORTED)
  })

  it('reaches HTTP behind TLS', async () => {
    const socket = await secured(ports.https, HEADER)
    expect((await ask(socket, 'a.test')).body).toBe(TRANSPORTED)
    socket.destroy()
  })

  it('is what network authorization judges, on TLS that is passed on and on TCP', async () => {
    await proxy.apply({ listeners, backends, policies: [rule('Strict'), ONLY_TRANSPORTED] })
    expect(await textOf(await secured(ports.passed, HEADER))).toBe('hello')
    await expect(secured(ports.passed, OTHER)).rejects.toThrow(/disconnected|ECONNRESET|socket hang up/)
    expect(await textOf(await connect(ports.tcp, HEADER))).toBe('hello')
    expect(await textOf(await connect(ports.tcp, OTHER))).toBe('')
    expect(await textOf(await connect(ports.http, Buffer.concat([OTHER, Buffer.from(REQUEST)])))).toBe('')
    await proxy.apply({ listeners, backends, policies: [rule('Strict')] })
  })

  it('is the address of the socket for connections of the load balancer itself', async () => {
    const socket = await connect(ports.http, Buffer.concat([LOCAL, Buffer.from(REQUEST)]))
    expect(await textOf(socket)).toContain('127.0.0.1')
  })
})

describe('a missing header', () => {
  it.each(['http', 'https', 'passed', 'tcp'] as const)('closes without an answer: %s', async (name) => {
    expect(await textOf(await connect(ports[name], REQUEST))).toBe('')
  })

  it('is not awaited for ever', { timeout: 20_000 }, async () => {
    const [http, tcp] = [await connect(ports.http, 'PROXY'), await connect(ports.tcp)]
    expect(await Promise.all([textOf(http), textOf(tcp)])).toEqual(['', ''])
  })

  it(
    'is no matter where it is optional, also where the server speaks first',
    { timeout: 20_000, tags: ['full'] },
    async () => {
      await proxy.apply({ listeners, backends, policies: [rule('Optional')] })
      const silent = textOf(await connect(ports.tcp))
      expect(await textOf(await connect(ports.http, REQUEST))).toContain('127.0.0.1')
      expect(await textOf(await connect(ports.tcp, HEADER))).toBe('hello')
      expect(await textOf(await connect(ports.http, Buffer.concat([HEADER, Buffer.from(REQUEST)])))).toContain(
        TRANSPORTED,
      )
      expect(await silent).toBe('hello')
      await proxy.apply({ listeners, backends, policies: [rule('Strict')] })
    },
  )
})
