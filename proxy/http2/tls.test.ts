// HTTP/2 over TLS: ALPN on both sides, names that are checked, backends that choose another protocol, broken
// certificates.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { answering, OK, portOf, startUpstream } from '../http/server.testing.ts'
import type { UpstreamTls } from '../upstream/target.ts'
import { ask, connect, startProxy } from './bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})
const keep = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}

let folder = ''
let key = ''
let cert = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'http2-tls-'))
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=h2.test', '-addext', 'subjectAltName=DNS:h2.test']
  execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...subject], { stdio: 'ignore' })
  key = readFileSync(join(folder, 'key.pem'), 'utf8')
  cert = readFileSync(join(folder, 'cert.pem'), 'utf8')
})
afterAll(() => rmSync(folder, { recursive: true }))

const GET = { ':path': '/' }

function upstreamTls(extra: Partial<UpstreamTls> = {}): UpstreamTls {
  const base = { servername: 'h2.test', caCertificates: cert, insecureSkipVerify: undefined, alpnProtocols: undefined }
  return { ...base, ...extra }
}

async function secureBackend(): Promise<number> {
  const server = http2.createSecureServer({ key, cert })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'x-scheme': String(headers[':scheme']) })
    stream.end('secure')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sessions: http2.ServerHttp2Session[] = []
  server.on('session', (session) => {
    sessions.push(session)
  })
  keep({
    close() {
      for (const session of sessions) session.destroy()
      server.close()
    },
  })
  return portOf(server)
}

it('a backend with TLS: ALPN h2, scheme https, the certificate is checked', async () => {
  const port = await secureBackend()
  const proxy = keep(await startProxy(port, { target: { httpVersion: 'HTTP2', tls: upstreamTls() } }))
  const answer = await ask(keep(connect(proxy.port)), GET)
  expect([answer.body, answer.headers['x-scheme']]).toEqual(['secure', 'https'])
})

it.each([
  ['another name', { servername: 'other.test' }],
  ['another issuer', { caCertificates: undefined }],
  ['no certificate at all', { caCertificates: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' }],
])('a backend with %s: 503', async (_name, extra) => {
  const port = await secureBackend()
  const proxy = keep(await startProxy(port, { target: { httpVersion: 'HTTP2', tls: upstreamTls(extra) } }))
  expect((await ask(keep(connect(proxy.port)), GET)).headers[':status']).toBe(503)
})

it('a backend that chooses HTTP/1.1: 503', async () => {
  const server = https.createServer({ key, cert }, (_request, response) => response.end('one'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  keep({ close: () => server.close() })
  const proxy = keep(await startProxy(portOf(server), { target: { httpVersion: 'HTTP2', tls: upstreamTls() } }))
  const answer = await ask(keep(connect(proxy.port)), GET)
  expect(answer.headers[':status']).toBe(503)
})

it('a client with TLS: ALPN decides, and the exchange knows', async () => {
  const upstream = keep(await startUpstream(answering(OK)))
  const proxy = keep(await startProxy(upstream.port))
  const server = tls.createServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    proxy.server.acceptSocket(socket, undefined, { facts: { isTls: true, sni: 'h2.test' } })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  keep({ close: () => server.close() })
  const trust = { ca: cert, servername: 'h2.test' }
  const session = http2.connect(`https://127.0.0.1:${portOf(server)}`, trust)
  keep(session)
  // Towards the backend it is HTTP/1.1: a client with TLS says nothing about backends without.
  expect((await ask(session, GET)).body).toBe('ok')
  expect(proxy.handled[0]?.request).toMatchObject({ version: 'HTTP/2', scheme: 'https' })
  expect(proxy.handled[0]?.connection).toMatchObject({ isTls: true, sni: 'h2.test' })
  const text = await new Promise<string>((resolve, reject) => {
    const get = https.get({ ...trust, host: '127.0.0.1', port: portOf(server), agent: false }, (response) => {
      response.setEncoding('utf8').on('data', resolve)
    })
    get.on('error', reject)
  })
  expect([text, proxy.handled[1]?.request.version]).toEqual(['ok', 'HTTP/1.1'])
})
