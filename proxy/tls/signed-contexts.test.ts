// Listeners whose certificates are signed on demand, as clients of a real proxy see them; and what is kept of names.
// @module-tag full
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { ask } from './client.testing.ts'
import { startTlsProxy, type TestListener, type TlsTestProxy } from './proxy.testing.ts'
import { SignedContexts } from './signed-contexts.ts'

const ca = authority()
let gateway: TlsTestProxy | undefined
afterEach(() => gateway?.stop())

const listenerAt = (port: number, rest: Partial<TestListener> = {}): TestListener => ({
  name: 'main',
  port,
  protocol: 'HTTPS',
  pair: ca,
  ...rest,
  tls: { signsCertificates: true, ...rest.tls },
})

async function start(rest: Partial<TestListener> = {}, workers = 1): Promise<number> {
  const port = await freePort()
  gateway = await startTlsProxy({ listeners: [listenerAt(port, rest)] }, workers)
  return port
}

/** Verifies what it is shown. */
async function connect(port: number, servername: string | undefined, options: tls.ConnectionOptions = {}) {
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    ca: ca.certificate,
    ...(servername === undefined ? { rejectUnauthorized: false } : { servername }),
    ...options,
  })
  await once(socket, 'secureConnect')
  return socket
}

describe('the library of certificates', () => {
  it('is loaded where certificates are signed only', () => {
    const code = `
      import { createRequire } from 'node:module'
      const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((one) => one.includes('asn1-x509'))
      await import('./proxy/runtime/tls-bind.ts')
      const before = isLoaded()
      await (await import('./proxy/tls/signing.ts')).loadSigning()
      console.log(before, isLoaded())`
    const args = ['--input-type=module', '--eval', code]
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe('false true')
  })
})

describe('certificates signed on demand', () => {
  it('have the name that is asked for, and clients of the authority verify them', async () => {
    const port = await start()
    for (const name of ['a.test', 'b.a.test', 'UPPER.test', 'a.test']) {
      const socket = await connect(port, name)
      expect(socket.getPeerX509Certificate()?.subject).toBe(`CN=${name.toLowerCase()}`)
      expect((await ask(socket, name)).status).toBe(200)
      socket.destroy()
    }
    const old = await connect(port, 'a.test', { maxVersion: 'TLSv1.2' })
    expect([old.getProtocol(), old.authorized]).toEqual(['TLSv1.2', true])
    old.destroy()
  })

  it('are signed once for a name', { tags: ['full'] }, async () => {
    const port = await start()
    const serials = new Set<string | undefined>()
    for (let count = 0; count < 3; count += 1) {
      const socket = await connect(port, 'a.test')
      serials.add(socket.getPeerX509Certificate()?.serialNumber)
      socket.destroy()
    }
    expect(serials.size).toBe(1)
  })

  it('are for names of the listener only', async () => {
    const port = await start({ hostname: '*.apps.test' })
    ;(await connect(port, 'x.apps.test')).destroy()
    await expect(connect(port, 'x.other.test')).rejects.toThrow(/alert|unrecognized/i)
  })

  it('are for clients that name a server, as host names are written', async () => {
    const port = await start()
    await expect(connect(port, undefined)).rejects.toThrow(/alert|handshake/i)
    await expect(connect(port, `${'a'.repeat(64)}.test`)).rejects.toThrow(/alert|handshake/i)
    ;(await connect(port, 'a.test')).destroy()
  })

  it('do not keep sessions from being resumed, on any worker', async () => {
    const port = await start({}, 2)
    const first = await connect(port, 'a.test')
    const [session] = (await once(first, 'session')) as [Buffer] // what the event carries
    first.destroy()
    for (let count = 0; count < 4; count += 1) {
      const again = await connect(port, 'a.test', { session })
      expect(again.isSessionReused()).toBe(true)
      again.destroy()
    }
  })

  it('agree on what the policy of the listener allows, and on h2', async () => {
    const port = await freePort()
    gateway = await startTlsProxy({
      listeners: [listenerAt(port)],
      policies: [
        { frontend: { tls: { maxProtocolVersion: '1.2', cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'] } } },
      ],
    })
    const socket = await connect(port, 'a.test', { ALPNProtocols: ['h2'] })
    expect([socket.getProtocol(), socket.getCipher().name, socket.alpnProtocol]).toEqual([
      'TLSv1.2',
      'ECDHE-ECDSA-AES256-GCM-SHA384',
      'h2',
    ])
    socket.destroy()
    const weak = { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const
    await expect(connect(port, 'a.test', weak)).rejects.toThrow(/alert|handshake/i)
  })

  it('are those of another authority from the next handshake on', { tags: ['full'] }, async () => {
    const port = await start()
    ;(await connect(port, 'a.test')).destroy()
    const other = authority('Other CA')
    await gateway?.apply({ listeners: [listenerAt(port, { pair: other })] })
    await expect(connect(port, 'a.test')).rejects.toThrow(/certificate|issuer/i)
    ;(await connect(port, 'a.test', { ca: other.certificate })).destroy()
  })

  it('a pair that is no authority shows nothing', async () => {
    const port = await start({ pair: certificateFor({ commonName: 'leaf', names: ['DNS:a.test'] }) })
    await expect(connect(port, 'a.test', { rejectUnauthorized: false })).rejects.toThrow(/alert|handshake/i)
  })
})

describe('SignedContexts', () => {
  it('keeps a bounded number of names, those used last', () => {
    const contexts = new SignedContexts(ca, {})
    const [now] = [Date.now()]
    const first = contexts.for('n0.test', now)
    for (let at = 1; at < 256; at += 1) contexts.for(`n${at}.test`, now)
    expect([contexts.size, contexts.for('N0.test', now) === first]).toEqual([256, true])
    contexts.for('one-more.test', now)
    expect([contexts.size, contexts.for('n0.test', now) === first]).toEqual([256, true])
  })

  it('signs again when half of the time is over', () => {
    const contexts = new SignedContexts(ca, {})
    const now = Date.now()
    const first = contexts.for('a.test', now)
    const halfMs = 12 * 3_600_000
    expect(contexts.for('a.test', now + halfMs - 1)).toBe(first)
    expect(contexts.for('a.test', now + halfMs)).not.toBe(first)
  })
})
