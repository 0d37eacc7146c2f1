// Protocols of clients and of backends through a `gw run` process: curl with HTTP/2, the ws library, appProtocol of
// Services, connections that reach their maximum age during a request.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import http2, { type Http2Server } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { stringify } from 'yaml'
import { RawClient } from '#proxy/http/server.testing.ts'
import { certificateFor, type KeyPair } from '#test/certificates.ts'
import { freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, until } from './gw.ts'

const run = promisify(execFile)
const API = 'gateway.networking.k8s.io/v1'
const named = (name: string) => ({ name, namespace: 'default' })

/** For each Service its `appProtocol`, and whether its server uses TLS. */
const SERVICES = {
  plain: { appProtocol: undefined, isTls: false },
  https: { appProtocol: 'https', isTls: true },
  h2c: { appProtocol: 'kubernetes.io/h2c', isTls: false },
  ws: { appProtocol: 'kubernetes.io/ws', isTls: false },
  wss: { appProtocol: 'kubernetes.io/wss', isTls: true },
} as const
type ServiceName = keyof typeof SERVICES

let folder = ''
let gateway: GwProcess
let admin = ''
let certificate: KeyPair
const ports = { http: 0, https: 0, aging: 0 }
const servers: (Server | Http2Server)[] = []
const sockets: WebSocketServer[] = []
/** Responses of `/held`, until the test ends them. */
const held: ServerResponse[] = []

/** Answers with the version and the path of the request. */
function describeRequest(request: IncomingMessage, response: ServerResponse): void {
  if (request.url?.endsWith('/held') === true) {
    held.push(response)
    return
  }
  if (request.url?.endsWith('/mirror') === true) {
    request.pipe(response)
    return
  }
  response.end(`HTTP/${request.httpVersion}`)
}

function secureServer(): Server {
  const { certificate: cert, privateKey: key } = certificate
  // Supports HTTP/2 too.
  return createTlsServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, describeRequest)
}

function echoing(server: Server): Server {
  const webSockets = new WebSocketServer({ server })
  sockets.push(webSockets)
  webSockets.on('connection', (socket, request) => {
    socket.on('message', (data: RawData, isBinary) => {
      // `nodebuffer` is the binary type unless another is set.
      const bytes = data as Buffer
      socket.send(isBinary ? bytes : `${request.url}: ${bytes.toString()}`)
    })
  })
  return server
}

async function startServices(): Promise<Readonly<Record<ServiceName, number>>> {
  // Answers after the whole body: a client that still sends may treat an early response as a failure.
  const h2c = http2.createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('HTTP/2'))
  })
  const started = {
    plain: createServer(describeRequest),
    https: secureServer(),
    h2c,
    ws: echoing(createServer(describeRequest)),
    wss: echoing(secureServer()),
  }
  servers.push(...Object.values(started))
  const open = async (name: ServiceName) => [name, await listening(started[name])] as const
  return Object.fromEntries(
    await Promise.all(Object.keys(SERVICES).map((name) => open(name as ServiceName))),
  ) as Record<ServiceName, number> // of exactly these keys
}

function serviceObjects(name: ServiceName, port: number): object[] {
  const { appProtocol, isTls } = SERVICES[name]
  const slice = { name: `${name}-1`, namespace: 'default', labels: { 'kubernetes.io/service-name': name } }
  const tls = {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: named(`${name}-tls`),
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name }],
      backend: { tls: { insecureSkipVerify: 'All' } },
    },
  }
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: named(name),
      spec: { ports: [{ name: 'app', port: 80, ...(appProtocol !== undefined && { appProtocol }) }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: slice,
      addressType: 'IPv4',
      endpoints: [{ addresses: ['127.0.0.1'] }],
      ports: [{ name: 'app', port }],
    },
    ...(isTls ? [tls] : []),
  ]
}

function manifests(services: Readonly<Record<ServiceName, number>>): string {
  const listeners = [
    { name: 'http', port: ports.http, protocol: 'HTTP' },
    { name: 'https', port: ports.https, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'tls' }] } },
    { name: 'aging', port: ports.aging, protocol: 'HTTP' },
  ]
  const names = Object.keys(SERVICES) as ServiceName[] // as above
  const rules = names.map((name) => ({
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs: [{ name, port: 80 }],
  }))
  const objects: object[] = [
    { apiVersion: API, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName: 'gw.dev/controller' } },
    { apiVersion: API, kind: 'Gateway', metadata: named('edge'), spec: { gatewayClassName: 'gw', listeners } },
    { apiVersion: API, kind: 'HTTPRoute', metadata: named('all'), spec: { parentRefs: [{ name: 'edge' }], rules } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: named('tls'),
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': certificate.certificate, 'tls.key': certificate.privateKey },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: named('aging'),
      spec: {
        targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge', port: ports.aging }],
        frontend: { http: { maxConnectionDuration: '1s' } },
      },
    },
    ...names.flatMap((name) => serviceObjects(name, services[name])),
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-protocols-test-'))
  certificate = certificateFor({ commonName: 'localhost', names: ['DNS:localhost', 'IP:127.0.0.1'] })
  writeFileSync(join(folder, 'ca.pem'), certificate.certificate)
  for (const name of ['http', 'https', 'aging'] as const) ports[name] = await freePort()
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, manifests(await startServices()))
  gateway = new GwProcess(['run', '-f', file, '--no-access-log', ...ANY_PORTS])
  await gateway.says('gw: serving')
  admin = /\badmin=(\d+)/.exec(gateway.stdout + gateway.stderr)?.[1] ?? ''
})

afterAll(async () => {
  await gateway.stop()
  for (const one of sockets) {
    for (const client of one.clients) client.terminate()
    one.close()
  }
  for (const response of held) response.destroy()
  for (const server of servers) {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  }
  rmSync(folder, { recursive: true, force: true })
})

/** `version body` */
async function curl(...args: readonly string[]): Promise<string> {
  const ca = join(folder, 'ca.pem')
  const { stdout } = await run('curl', ['-sS', '-m', '10', '--cacert', ca, '-w', ' %{http_version}', ...args])
  return stdout
}

describe('curl', () => {
  it.each([
    ['--http2', 'https', 'HTTP/1.1 2'],
    ['--http2-prior-knowledge', 'https', 'HTTP/1.1 2'],
    ['--http1.1', 'https', 'HTTP/1.1 1.1'],
    ['--no-alpn', 'https', 'HTTP/1.1 1.1'],
    ['--http2-prior-knowledge', 'http', 'HTTP/1.1 2'],
    ['--http2', 'http', 'HTTP/1.1 1.1'],
  ] as const)('%s to the %s listener', async (flag, scheme, expected) => {
    expect(await curl(flag, `${scheme}://localhost:${ports[scheme]}/ws`)).toBe(expected)
  })

  it('sends and gets bodies over HTTP/2 with TLS', async () => {
    const url = `https://localhost:${ports.https}/h2c`
    expect(await curl('--http2', '--data-binary', 'x'.repeat(100_000), url)).toBe('HTTP/2 2')
  })
})

describe('appProtocol', { tags: ['full'] }, () => {
  it.each([
    ['plain', 'HTTP/1.1 1.1'],
    ['https', 'HTTP/1.1 1.1'],
    ['h2c', 'HTTP/2 1.1'],
    ['ws', 'HTTP/1.1 1.1'],
    ['wss', 'HTTP/1.1 1.1'],
  ] as const)('of Service %s: a call is %s', async (name, expected) => {
    expect(await curl(`http://127.0.0.1:${ports.http}/${name}`)).toBe(expected)
  })

  it.each(['https', 'ws', 'wss'] as const)('%s is HTTP/1.1 for a client of HTTP/2 too', async (name) => {
    expect(await curl('--http2-prior-knowledge', `http://127.0.0.1:${ports.http}/${name}`)).toBe('HTTP/1.1 2')
  })
})

describe('WebSocket', () => {
  it.each([
    ['ws', 'ws'],
    ['ws', 'wss'],
    ['wss', 'ws'],
    ['wss', 'wss'],
  ] as const)('of the ws library: %s:// client, Service %s', async (scheme, name) => {
    const port = scheme === 'ws' ? ports.http : ports.https
    const socket = new WebSocket(`${scheme}://localhost:${port}/${name}/chat`, { ca: certificate.certificate })
    await once(socket, 'open')
    socket.send('hello')
    const [text] = (await once(socket, 'message')) as [Buffer] // binary type of the library
    expect(text.toString()).toBe(`/${name}/chat: hello`)
    const large = Buffer.alloc(1_000_000, 'ab')
    socket.send(large)
    const [echoed] = (await once(socket, 'message')) as [Buffer] // as above
    expect(large.equals(echoed)).toBe(true)
    socket.close(4000, 'done')
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer] // as above
    expect([code, reason.toString()]).toEqual([4000, 'done'])
  })

  it('over HTTP/2 (RFC 8441), to the server of the library', async () => {
    const session = http2.connect(`https://localhost:${ports.https}`, { ca: certificate.certificate })
    await once(session, 'remoteSettings')
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/ws/chat',
      'sec-websocket-version': '13',
    })
    const [headers] = await once(stream, 'response')
    expect(headers).toMatchObject({ ':status': 200 })
    // A text frame with a mask of zeros (RFC 6455 section 5.2).
    stream.write(Buffer.concat([Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from('hi')]))
    const [frame] = (await once(stream, 'data')) as [Buffer] // no encoding is set
    expect([frame[0], frame.subarray(2).toString()]).toEqual([0x81, '/ws/chat: hi'])
    session.destroy()
  })
})

describe('a body of 512 MiB there and back', { tags: ['full'] }, () => {
  const PIECE = Buffer.alloc(1024 * 1024, 'x')
  const PIECES = 512

  async function residentBytes(): Promise<number> {
    const report = (await (await fetch(`http://127.0.0.1:${admin}/memory`)).json()) as { process: { rss: number } } // as its schema has it
    return report.process.rss
  }

  /** The maximum resident memory during the transfer, and the number of bytes that came back. */
  async function through(stream: Duplex): Promise<{ resident: number; back: number }> {
    let back = 0
    let resident = 0
    let watching: Promise<void> | undefined
    const look = async (): Promise<void> => {
      resident = Math.max(resident, await residentBytes())
      watching = undefined
    }
    stream.on('data', (chunk: Buffer) => {
      back += chunk.length
      watching ??= look()
    })
    const ended = once(stream, 'end')
    for (let i = 0; i < PIECES; i++) if (!stream.write(PIECE)) await once(stream, 'drain')
    stream.end()
    await ended
    await watching
    return { resident, back }
  }

  it('needs no more memory of the gateway than its buffers', async () => {
    const before = await residentBytes()
    const session = http2.connect(`https://localhost:${ports.https}`, { ca: certificate.certificate })
    const { resident, back } = await through(session.request({ ':path': '/plain/mirror', ':method': 'POST' }))
    session.destroy()
    expect(back).toBe(PIECES * PIECE.length)
    expect(resident - before).toBeLessThan((PIECES * PIECE.length) / 2)
  }, 180_000)
})

describe('maxConnectionDuration', { tags: ['full'] }, () => {
  it('lets the request of an HTTP/1.1 connection finish, then ends it', async () => {
    const busy = await RawClient.connect(ports.aging)
    busy.send('GET /plain/held HTTP/1.1\r\nhost: a\r\n\r\n')
    await until('the request is there', () => held.length === 1)
    const idle = await RawClient.connect(ports.aging)
    // Newer: when it ends with a response, the others have reached their age.
    const used = await RawClient.connect(ports.aging)
    await until('its last response', () => {
      used.send('GET /plain HTTP/1.1\r\nhost: a\r\n\r\n')
      return used.isEnded
    })
    expect(used.text).toContain('connection: close')
    expect([busy.isEnded, idle.isEnded]).toEqual([false, false])
    held.pop()?.end('late')
    expect(await busy.ends()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*late/)
  })

  it('lets the streams of an HTTP/2 connection finish, then ends it', async () => {
    const session = http2.connect(`http://127.0.0.1:${ports.aging}`)
    // The Service that fixes HTTP/1.1.
    const stream = session.request({ ':path': '/ws/held' })
    await until('the request is there', () => held.length === 1)
    await once(session, 'goaway')
    expect(stream.closed).toBe(false)
    const closed = once(session, 'close')
    held.pop()?.end('late')
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(stream, 'end')
    expect([Buffer.concat(chunks).toString(), stream.rstCode]).toEqual(['late', 0])
    await closed
  })
})
