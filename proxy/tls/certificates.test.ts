// Several certificates of one listener, as clients of a real proxy see them.
import { once } from 'node:events'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { ask, shakeHands } from './client.testing.ts'
import { startTlsProxy, type TestListener, type TestSetup, type TlsTestProxy } from './proxy.testing.ts'

const ca = authority()
const pairOf = (commonName: string, names: readonly string[]): KeyPair =>
  certificateFor({ commonName, names: names.map((name) => `DNS:${name}`), issuer: ca })

const main = pairOf('main', ['a.test'])
const second = pairOf('second', ['b.test', '*.b.test'])
/** Signs itself: a client that verifies RSA only would not take what an EC authority signed. */
const mainRsa = certificateFor({ commonName: 'main-rsa', names: ['DNS:a.test'], key: 'RSA' })
const broken: KeyPair = { ...pairOf('broken', ['c.test']), privateKey: main.privateKey }

let gateway: TlsTestProxy | undefined
afterEach(() => gateway?.stop())

async function start(more: readonly KeyPair[], rest: Partial<TestListener> = {}): Promise<number> {
  const port = await freePort()
  const refs = more.map((_, at) => ({
    certificate: { secret: `ns/more${at}/tls.crt` },
    privateKey: { secret: `ns/more${at}/tls.key` },
  }))
  const [first, ...others] = refs
  const setup: TestSetup = {
    listeners: [
      {
        name: 'main',
        port,
        protocol: 'HTTPS',
        pair: main,
        ...rest,
        tls: { ...rest.tls, ...(first && { moreCertificates: [first, ...others] }) },
      },
    ],
    secrets: Object.fromEntries(
      more.flatMap(({ certificate, privateKey }, at) => [
        [`ns/more${at}/tls.crt`, certificate],
        [`ns/more${at}/tls.key`, privateKey],
      ]),
    ),
  }
  gateway = await startTlsProxy(setup)
  return port
}

const shown = async (port: number, options: tls.ConnectionOptions): Promise<string> => {
  const { socket, commonName } = await shakeHands(port, options)
  socket.destroy()
  return commonName
}

describe('several certificates', () => {
  it('the one with the name is shown, else the first', async () => {
    const port = await start([second])
    const names = ['a.test', 'b.test', 'B.TEST', 'x.b.test', 'x.y.b.test', 'other.test', undefined]
    const seen = await Promise.all(names.map((servername) => shown(port, { ...(servername && { servername }) })))
    expect(seen).toEqual(['main', 'second', 'second', 'second', 'main', 'main', 'main'])
  })

  it('one for each kind of key: clients get what they can verify', async () => {
    const port = await start([mainRsa, second])
    const servername = 'a.test'
    expect(await shown(port, { servername, sigalgs: 'rsa_pss_rsae_sha256:rsa_pkcs1_sha256' })).toBe('main-rsa')
    expect(await shown(port, { servername, sigalgs: 'ecdsa_secp256r1_sha256' })).toBe('main')
    expect(await shown(port, { servername, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' })).toBe(
      'main-rsa',
    )
  })

  it('one that does not fit its key costs its own names only', async () => {
    const port = await start([broken, second])
    await expect(shakeHands(port, { servername: 'c.test' })).rejects.toThrow(/alert|handshake/i)
    expect(await shown(port, { servername: 'a.test' })).toBe('main')
    expect(await shown(port, { servername: 'b.test' })).toBe('second')
  })

  it('clients show theirs whatever name they ask for', async () => {
    const people = authority()
    const me = certificateFor({ commonName: 'me', issuer: people })
    const clientCertificates = { mode: 'AllowValidOnly', caCertificates: people.certificate } as const
    const port = await start([second], { tls: { clientCertificates } })
    for (const servername of ['a.test', 'b.test']) {
      const { socket } = await shakeHands(port, { servername, cert: me.certificate, key: me.privateKey })
      expect((await ask(socket, servername)).status).toBe(200)
      const stranger = tls.connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
      const [error] = (await once(stranger, 'error').catch((cause: unknown) => [cause])) as [Error]
      expect(error.message).toMatch(/alert|reset|closed/i)
    }
  })

  it('sessions are resumed for each of the names', async () => {
    const port = await start([second])
    for (const servername of ['a.test', 'b.test']) {
      const { socket } = await shakeHands(port, { servername })
      const [session] = (await once(socket, 'session')) as [Buffer] // what the event carries
      socket.destroy()
      const again = tls.connect({ host: '127.0.0.1', port, servername, session, rejectUnauthorized: false })
      await once(again, 'secureConnect')
      expect(again.isSessionReused()).toBe(true)
      again.destroy()
    }
  })
})
