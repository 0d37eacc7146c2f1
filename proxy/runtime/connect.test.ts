// CONNECT in all modes of frontend.connect, through a real proxy, from HTTP/1.1 and HTTP/2 clients.
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FrontendConnect } from '#api/ir/types.gen.ts'
import { certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { ask } from '../tls/client.testing.ts'
import { startTlsProxy, type TestSetup, type TlsTestProxy } from '../tls/proxy.testing.ts'

const MIB = 1024 * 1024
const pair = certificateFor({ commonName: 'a.test', names: ['DNS:a.test'] })
const SEEN = '=source.address + " " + string(source.port) + " " + source.connectHeaders["x-from"] + " " + request.path'

let proxy: TlsTestProxy
let base: TestSetup
const ports = { http: 0, answering: 0, https: 0, tcp: 0, dead: 0, greeting: 0 }
const servers: net.Server[] = []
const open: { destroy(): unknown }[] = []

async function backend(accept: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    open.push(socket)
    accept(socket)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as net.AddressInfo).port // a listening TCP server has one
}

beforeAll(async () => {
  for (const name of ['http', 'answering', 'https', 'tcp', 'dead'] as const) ports[name] = await freePort()
  const echo = await backend((socket) => socket.pipe(socket))
  const greeting = await backend((socket) => socket.end('hello'))
  ports.greeting = greeting
  const at = (port: number) => ({ static: { host: '127.0.0.1', port } })
  base = {
    listeners: [
      { name: 'http', port: ports.http, protocol: 'HTTP', backends: [['echo', 1]] },
      { name: 'answering', port: ports.answering, protocol: 'HTTP', answers: SEEN },
      { name: 'https', port: ports.https, protocol: 'HTTPS', hostname: 'a.test', pair, answers: SEEN },
      { name: 'tcp', port: ports.tcp, protocol: 'TCP', backends: [['greeting', 1]] },
    ],
    backends: { any: { dynamic: {} }, echo: at(echo), greeting: at(greeting), dead: at(ports.dead) },
  }
  proxy = await startTlsProxy(base)
})

afterEach(() => {
  for (const one of open.splice(0)) one.destroy()
})

afterAll(async () => {
  await proxy.stop()
  for (const server of servers) server.close()
})

async function mode(connect: FrontendConnect['mode'] | undefined, change: Partial<TestSetup> = {}): Promise<void> {
  const policies = connect === undefined ? [] : [{ frontend: { connect: { mode: connect } } }]
  await proxy.apply({ ...base, ...change, policies: [...policies, ...(change.policies ?? [])] })
}

interface Opened {
  readonly status: number
  readonly stream: Duplex
  readonly head: string
}
type Connect = (authority: string, headers?: Record<string, string>) => Promise<Opened>

const byHttp1: Connect = async (authority, headers = {}) => {
  const socket = net.connect({ host: '127.0.0.1', port: ports.http, allowHalfOpen: true })
  open.push(socket)
  socket.on('error', () => {})
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${lines.join('')}\r\n`)
  let head = ''
  while (!head.includes('\r\n\r\n')) {
    await once(socket, 'readable')
    let byte: Buffer | null
    // No encoding is set, so it gives buffers.
    while (!head.includes('\r\n\r\n') && (byte = socket.read(1) as Buffer | null) !== null)
      head += byte.toString('latin1')
    if (socket.readableEnded) break
  }
  return { status: Number(head.slice(9, 12)), stream: socket, head }
}

const byHttp2: Connect = async (authority, headers = {}) => {
  const session = http2.connect(`http://127.0.0.1:${ports.http}`)
  open.push(session)
  session.on('error', () => {})
  const stream = session.request({ ':method': 'CONNECT', ':authority': authority, ...headers })
  stream.on('error', () => {})
  const [answer] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status': number }]
  return { status: answer[':status'], stream, head: JSON.stringify(answer) }
}

async function textOf(stream: Duplex): Promise<string> {
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  // A reset says nothing more either.
  await Promise.race([once(stream, 'end'), once(stream, 'close')]).catch(() => undefined)
  return text
}

const CLIENTS = [
  ['HTTP/1.1', byHttp1],
  ['HTTP/2', byHttp2],
] as const

describe.each(CLIENTS)('CONNECT by %s', (version, connect) => {
  it.each([undefined, 'Deny'] as const)('mode %s: 405', async (denied) => {
    await mode(denied)
    expect((await connect('a.test:443')).status).toBe(405)
  })

  it('mode Route: bytes both ways to the backend of the route, ended one by one', async () => {
    await mode('Route')
    const { status, stream, head } = await connect('a.test:443')
    expect(status).toBe(200)
    expect(head).not.toMatch(/content-length|transfer-encoding/)
    stream.end('ping')
    expect(await textOf(stream)).toBe('ping')
  })

  it('mode Route: carries 8 MiB unchanged', async () => {
    await mode('Route')
    const { stream } = await connect('a.test:443')
    const sent = Buffer.alloc(8 * MIB, 'abcdefg')
    let bytes = 0
    let isSame = true
    stream.on('data', (chunk: Buffer) => {
      isSame &&= chunk.equals(sent.subarray(bytes, bytes + chunk.length))
      bytes += chunk.length
    })
    const ended = once(stream, 'end')
    stream.end(sent)
    await ended
    expect([bytes, isSame]).toEqual([sent.length, true])
  })

  it('mode Route: policies of the route are asked first', async () => {
    const deny = { traffic: { authorization: { action: 'Deny', matchExpressions: ['request.host == "b.test:443"'] } } }
    await mode('Route', { policies: [deny as never] })
    expect((await connect('b.test:443')).status).toBe(403)
    expect((await connect('a.test:443')).status).toBe(200)
  })

  it('mode Route: a backend that cannot be reached is a 503', async () => {
    const [first, ...others] = base.listeners
    if (first === undefined) throw new Error('no listener')
    await mode('Route', { listeners: [{ ...first, backends: [['dead', 1]] }, ...others] })
    expect((await connect('a.test:443')).status).toBe(503)
  })

  it('mode Route: a dynamic forward proxy leads where the request says, but not everywhere', async () => {
    const [first, ...others] = base.listeners
    if (first === undefined) throw new Error('no listener')
    await mode('Route', { listeners: [{ ...first, backends: [['any', 1]] }, ...others] })
    const { status, stream } = await connect(`127.0.0.1:${ports.greeting}`)
    expect([status, await textOf(stream)]).toEqual([200, 'hello'])
    for (const host of ['127.0.0.2', '169.254.169.254', '[::1]', '[::ffff:127.0.0.2]']) {
      expect((await connect(`${host}:${ports.greeting}`)).status).toBe(403)
    }
  })

  it('mode Tunnel: what comes through is a connection to the port it names', async () => {
    await mode('Tunnel')
    const { status, stream } = await connect(`10.0.0.1:${ports.answering}`, { 'x-from': version })
    expect(status).toBe(200)
    stream.write('GET /in HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    const text = await textOf(stream)
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(text).toMatch(new RegExp(`127.0.0.1 \\d+ ${version} /in$`))
  })

  it('mode Tunnel: TLS and TCP ports', async () => {
    await mode('Tunnel')
    const { stream } = await connect(`a.test:${ports.https}`, { 'x-from': version })
    const secure = tls.connect({ socket: stream, servername: 'a.test', rejectUnauthorized: false })
    await once(secure, 'secureConnect')
    expect((await ask(secure, 'a.test', '/tls')).body).toMatch(new RegExp(`127.0.0.1 \\d+ ${version} /tls$`))
    secure.destroy()
    expect(await textOf((await connect(`a.test:${ports.tcp}`)).stream)).toBe('hello')
  })

  it('mode Tunnel: HTTP/2 inside', async () => {
    await mode('Tunnel')
    const { stream } = await connect(`a.test:${ports.answering}`, { 'x-from': version })
    const session = http2.connect('http://a.test', { createConnection: () => stream })
    session.on('error', () => {})
    const request = session.request({ ':path': '/h2' })
    expect(await textOf(request)).toMatch(new RegExp(`127.0.0.1 \\d+ ${version} /h2$`))
    session.destroy()
  })

  it('mode Tunnel: 404 for a port that is not served, 405 for a tunnel in a tunnel', async () => {
    await mode('Tunnel')
    expect((await connect(`a.test:${ports.dead}`)).status).toBe(404)
    const { stream } = await connect(`a.test:${ports.http}`)
    stream.write(`CONNECT a.test:${ports.http} HTTP/1.1\r\nhost: a.test:${ports.http}\r\n\r\n`)
    expect(await textOf(stream)).toMatch(/^HTTP\/1.1 405 /)
  })

  it('mode Tunnel: network authorization judges the client again', async () => {
    const rule = { action: 'Deny', matchExpressions: ['source.connectHeaders["x-from"] == "anonymous"'] } as const
    await mode('Tunnel', {
      policies: [{ frontend: { networkAuthorization: { ...rule, matchExpressions: [...rule.matchExpressions] } } }],
    })
    const { stream } = await connect(`a.test:${ports.tcp}`, { 'x-from': 'anonymous' })
    expect(await textOf(stream)).toBe('')
    expect(await textOf((await connect(`a.test:${ports.tcp}`, { 'x-from': 'me' })).stream)).toBe('hello')
  })
})

describe('a CONNECT over HTTP/1.1', () => {
  it.each(['Deny', 'Route', 'Tunnel'] as const)('mode %s: with a body it is malformed or refused', async (one) => {
    await mode(one)
    const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'
    const { status, stream } = await byHttp1(`a.test:${ports.answering}`, {
      'content-length': String(smuggled.length),
    })
    expect(status).toBe(one === 'Deny' ? 405 : 400)
    stream.write(smuggled)
    expect(await textOf(stream)).not.toContain('smuggled')
  })

  it('that is refused ends the connection: what follows is not a request', async () => {
    await mode('Deny')
    const { status, stream } = await byHttp1('a.test:443')
    expect(status).toBe(405)
    stream.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    expect(await textOf(stream)).toBe('method not allowed')
  })

  it.each(['a.test', 'http://a.test:80/', '/', '*', 'a.test:', 'a@b:80'])('%j is not an authority', async (target) => {
    await mode('Route')
    expect((await byHttp1(target)).status).toBe(400)
  })

  it('passes on what the client sends at once', async () => {
    await mode('Route')
    const socket = net.connect({ host: '127.0.0.1', port: ports.http, allowHalfOpen: true })
    open.push(socket)
    socket.end('CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\nearly')
    expect(await textOf(socket)).toMatch(/\r\n\r\nearly$/)
  })
})
