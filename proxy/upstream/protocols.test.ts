// What is offered in handshakes with backends, and that the version that is spoken is the one the backend chose.
import http2 from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import https from 'node:https'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { listeningUntil } from '#test/ports.ts'
import { connectHttp2 } from './http2-connect.ts'
import { DeadlineWheel } from '../socket/deadlines.ts'
import { HeaderList } from '../message/headers.ts'
import { dial } from './dial-tunnel.ts'
import { createUpstreamClient } from './client.ts'
import { DnsCache } from './dns-cache.ts'
import { offered, versionOf } from './protocols.ts'
import type { UpstreamClient, UpstreamTarget, UpstreamTls } from './target.ts'

const ca = authority()
const PAIR = certificateFor({ commonName: 'backend.test', names: ['DNS:backend.test'], issuer: ca })
const tlsWith = (alpnProtocols: readonly string[] | undefined): UpstreamTls => ({
  servername: 'backend.test',
  caCertificates: ca.certificate,
  insecureSkipVerify: undefined,
  alpnProtocols,
})

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const each of cleanup.splice(0).reverse()) await each()
  vi.restoreAllMocks()
})

describe('offered', () => {
  it.each([
    [undefined, 'http/1.1', ['http/1.1']],
    [undefined, 'h2', ['h2']],
    [['h2', 'http/1.1'], 'http/1.1', ['http/1.1']],
    [['h2', 'http/1.1'], 'h2', ['h2']],
    [['acme', 'http/1.1', 'h2'], 'h2', ['acme', 'h2']],
    [['http/1.1'], 'h2', ['http/1.1']],
    [['acme'], 'http/1.1', ['acme']],
  ] as const)('%j for %s: %j', (list, protocol, expected) => {
    expect(offered(protocol, tlsWith(list))).toEqual(expected)
  })
})

describe('version of a backend', () => {
  it.each([
    [undefined, undefined, undefined, {}],
    [undefined, undefined, 'HTTP2', { httpVersion: 'HTTP2' }],
    ['HTTP1', ['h2', 'http/1.1'], 'HTTP2', { httpVersion: 'HTTP1' }],
    [undefined, ['h2', 'http/1.1'], undefined, { negotiates: true }],
    [undefined, ['http/1.1', 'h2'], 'HTTP1', { negotiates: true, httpVersion: 'HTTP1' }],
    [undefined, ['h2'], 'HTTP1', { httpVersion: 'HTTP2' }],
    [undefined, ['http/1.1'], 'HTTP2', { httpVersion: 'HTTP1' }],
    [undefined, ['acme'], 'HTTP2', { httpVersion: 'HTTP2' }],
    [undefined, ['acme'], undefined, {}],
  ] as const)('policy %s, list %j, Service %s', (version, list, declared, expected) => {
    const policies = {
      ...(version !== undefined && { http: { version } }),
      ...(list !== undefined && { tls: { alpnProtocols: [...list] } }),
    }
    expect(versionOf(policies, declared)).toEqual({ httpVersion: undefined, ...expected })
  })
})

interface Backend {
  readonly port: number
  /** What each client hello offered. */
  readonly hellos: (readonly string[])[]
}

/** Chooses the first of its own protocols that is offered; `undefined`: without ALPN. */
async function backend(own: readonly ('h2' | 'http/1.1')[] | undefined): Promise<Backend> {
  const hellos: (readonly string[])[] = []
  const base = { cert: PAIR.certificate, key: PAIR.privateKey }
  const ALPNCallback: tls.TlsOptions['ALPNCallback'] = ({ protocols }) => {
    hellos.push(protocols)
    return own?.find((name) => protocols.includes(name))
  }
  const answer = (request: { httpVersion: string }, response: { end(text: string): unknown }): void => {
    response.end(request.httpVersion)
  }
  const server =
    own === undefined
      ? https.createServer(base, answer)
      : http2.createSecureServer({ ...base, allowHTTP1: true, ALPNCallback }, answer)
  return { port: await listen(server), hellos }
}

function listen(server: net.Server): Promise<number> {
  return listeningUntil(cleanup, server)
}

function client(): UpstreamClient {
  const one = createUpstreamClient()
  cleanup.push(() => one.close())
  return one
}

function targetOf(port: number, more: Partial<UpstreamTarget> = {}): UpstreamTarget {
  const base = { key: `127.0.0.1:${port}`, host: '127.0.0.1', port, unixPath: undefined, tls: undefined }
  return { ...base, connectTimeoutMs: 5000, ...more }
}

async function versionSpoken(one: UpstreamClient, target: UpstreamTarget): Promise<string> {
  const request = { method: 'GET', pathAndQuery: '/', authority: 'backend.test', headers: new HeaderList() }
  const deadlineMs = performance.now() + 10_000
  const { body } = await one.send(target, { ...request, body: undefined }, { deadlineMs, signal: undefined })
  return String(await body.collect(1000))
}

describe('handshake', () => {
  const BOTH = ['h2', 'http/1.1'] as const
  it.each([
    ['a backend with both', BOTH, '2.0'],
    ['a backend that prefers HTTP/1.1', ['http/1.1', 'h2'], '1.1'],
    ['a backend with HTTP/1.1 only', ['http/1.1'], '1.1'],
    ['a backend without ALPN', undefined, '1.1'],
  ] as const)('%s decides the version', async (_name, own, expected) => {
    const { port, hellos } = await backend(own)
    const target = targetOf(port, { tls: tlsWith(BOTH), negotiates: true })
    const one = client()
    for (let i = 0; i < 3; i++) expect(await versionSpoken(one, target)).toBe(expected)
    expect(hellos).toEqual(own === undefined ? [] : [BOTH])
  })

  it('many calls at once share the outcome', async () => {
    const { port, hellos } = await backend(['http/1.1'])
    const target = targetOf(port, { tls: tlsWith(BOTH), negotiates: true })
    const one = client()
    const versions = await Promise.all(Array.from({ length: 8 }, () => versionSpoken(one, target)))
    expect(new Set(versions)).toEqual(new Set(['1.1']))
    expect(hellos.length).toBeLessThanOrEqual(9)
  })

  it('a backend that came back with the other version is followed', async () => {
    const own: ('h2' | 'http/1.1')[] = ['http/1.1']
    const { port } = await backend(own)
    const target = targetOf(port, { tls: tlsWith(BOTH), negotiates: true })
    const one = client()
    expect(await versionSpoken(one, target)).toBe('1.1')
    own.unshift('h2')
    // One call holds the connection there is, so the other one needs a new one.
    const versions = await Promise.all([versionSpoken(one, target), versionSpoken(one, target)])
    expect(versions.toSorted()).toEqual(['1.1', '2.0'])
    expect(await versionSpoken(one, target)).toBe('2.0')
  })

  it('a version that is fixed is asked for alone, and nothing else is spoken', async () => {
    const { port, hellos } = await backend(BOTH)
    const target = targetOf(port, { tls: tlsWith(BOTH), httpVersion: 'HTTP1' })
    expect(await versionSpoken(client(), target)).toBe('1.1')
    const contradiction = { ...target, key: 'other', tls: tlsWith(['h2']) }
    await expect(versionSpoken(client(), contradiction)).rejects.toThrow(
      'the backend negotiated h2 instead of http/1.1',
    )
    const other = targetOf(port, { tls: tlsWith(['http/1.1']), httpVersion: 'HTTP2' })
    await expect(versionSpoken(client(), other)).rejects.toThrow('the backend negotiated http/1.1 instead of h2')
    expect(hellos).toEqual([['http/1.1'], ['h2'], ['http/1.1']])
  })
})

describe('keepalive', () => {
  const KEEPALIVE = { enabled: true, timeMs: 61_000, intervalMs: 11_000, retries: 4 }
  const ways: readonly (readonly [string, (target: UpstreamTarget) => Promise<unknown>])[] = [
    ['HTTP/1.1', (target) => versionSpoken(client(), { ...target, httpVersion: 'HTTP1' })],
    ['HTTP/2', (target) => versionSpoken(client(), { ...target, httpVersion: 'HTTP2' })],
    ['bytes', (target) => new Promise((resolve) => void dial(target, new DnsCache(), resolve))],
    [
      'gRPC',
      (target) =>
        new Promise((opened, failed) =>
          connectHttp2({
            target,
            dns: new DnsCache(),
            wheel: new DeadlineWheel(),
            opened: (session) => {
              session.destroy()
              opened(undefined)
            },
            failed,
          }),
        ),
    ],
  ]
  it.each(ways)('%s: no probes if they are switched off', async (name, open) => {
    const probes = vi.spyOn(net.Socket.prototype, 'setKeepAlive')
    const plain = name === 'HTTP/1.1' ? net.createServer(answerOnce) : http2.createServer((_, to) => to.end('2.0'))
    await open({ ...targetOf(await listen(plain), {}), keepalive: { ...KEEPALIVE, enabled: false } })
    expect(probes).not.toHaveBeenCalled()
  })

  it.each(ways.flatMap(([name, open]) => [true, false].map((isTls) => [name, isTls, open] as const)))(
    '%s, TLS %s: probes as written, else those of the specification',
    async (name, isTls, open) => {
      const probes = vi.spyOn(net.Socket.prototype, 'setKeepAlive')
      const plain = name === 'HTTP/1.1' ? net.createServer(answerOnce) : http2.createServer((_, to) => to.end('2.0'))
      const port = isTls ? (await backend(['h2', 'http/1.1'])).port : await listen(plain)
      const target = targetOf(port, isTls ? { tls: tlsWith(undefined) } : {})
      await open({ ...target, key: 'own', keepalive: KEEPALIVE })
      expect(probes.mock.calls).toContainEqual([true, 61_000, 11_000, 4])
      probes.mockClear()
      await open(target)
      expect(probes.mock.calls).toContainEqual([true, 180_000, 180_000, 9])
    },
  )
})

function answerOnce(socket: net.Socket): void {
  socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n1.1'))
}
