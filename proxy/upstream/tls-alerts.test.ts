// Backends that refuse a TLS connection after the handshake, as TLS 1.3 does without a client certificate: the alert is
// the reason in the error, at once, whatever the connection carries.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { certificateFor, type KeyPair } from '../../test/certificates.ts'
import { portOf, startProxy, targetOf, until } from '../http/server.testing.ts'
import { ask, connect, startProxy as startHttp2Proxy } from '../http2/bind-server.testing.ts'
import { dialDirect, type DialOutcome } from './dial.ts'
import { splice } from '../tcp/splice.ts'
import { DnsCache } from './dns-cache.ts'
import type { UpstreamTarget } from './target.ts'

let pair: KeyPair
beforeAll(() => {
  pair = certificateFor({ commonName: 'backend', names: ['DNS:backend.test'] })
})

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

/** Requires certificates of an authority that has signed none. */
async function startRefusing(alpn: string): Promise<number> {
  const server = tls.createServer({
    key: pair.privateKey,
    cert: pair.certificate,
    ca: pair.certificate,
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: [alpn],
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  return portOf(server)
}

function settings(): Partial<UpstreamTarget> {
  const upstreamTls = { servername: 'backend.test', caCertificates: pair.certificate }
  return { tls: { ...upstreamTls, insecureSkipVerify: undefined, alpnProtocols: undefined }, connectTimeoutMs: 20_000 }
}

const REASON = 'a client certificate is required'

describe('a backend that requires a client certificate', () => {
  it('HTTP/1.1', async () => {
    const proxy = await startProxy(await startRefusing('http/1.1'), { target: settings() })
    open.push(proxy)
    const client = await proxy.connect()
    client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await until(() => client.text.includes(REASON))
    expect(client.text).toContain('HTTP/1.1 503')
    expect(proxy.finished[0]?.exchange.errorDetail).toMatch(/certificate required/)
    client.socket.destroy()
  })

  it('HTTP/2', async () => {
    const target = { ...settings(), httpVersion: 'HTTP2' as const }
    const proxy = await startHttp2Proxy(await startRefusing('h2'), { target })
    open.push(proxy)
    const session = connect(proxy.port)
    open.push(session)
    const answer = await ask(session, { ':path': '/' })
    expect([answer.headers[':status'], answer.body]).toEqual([503, `upstream call failed: ${REASON}`])
    expect(proxy.finished[0]?.exchange.errorDetail).toMatch(/certificate required/)
  })

  it('bytes that are passed on: the client sees a break, not an end', async () => {
    const outcome = await new Promise<DialOutcome>((done) => {
      void startRefusing('http/1.1').then((port) => dialDirect(targetOf(port, settings()), new DnsCache(), done))
    })
    if (!('socket' in outcome)) throw new Error('no connection')
    const listener = net.createServer()
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    open.push(listener)
    const client = net.connect(portOf(listener), '127.0.0.1')
    const errors: unknown[] = []
    client.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code))
    const [accepted] = await once(listener, 'connection')
    const over = new Promise<Error | undefined>((done) => splice(accepted, outcome.socket, done))
    client.resume()
    await until(() => client.closed)
    expect([errors, (await over)?.message]).toEqual([['ECONNRESET'], expect.stringContaining('certificate required')])
  })
})
