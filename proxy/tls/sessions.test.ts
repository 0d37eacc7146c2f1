// TLS sessions as openssl sees them: resumed on any worker, not with keys that are gone, never past a client
// certificate.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { freePort } from '#test/ports.ts'
import { startTlsProxy, type TestSetup, type TlsTestProxy } from './proxy.testing.ts'

const ca = authority()
const people = authority()
const others = authority()
const pairOf = (name: string) => certificateFor({ commonName: name, names: [`DNS:${name}`], issuer: ca })
const pairs = { plain: pairOf('a.test'), strict: pairOf('b.test') }
const me = certificateFor({ commonName: 'me', names: ['DNS:me'], issuer: people })
const WORKERS = 2
/** Connections of which a worker would get all only once in a thousand times. */
const TRIES = 10

let folder: string
let port: number
let gateway: TlsTestProxy

function setup(clientAuthority: string, answer = 'hello'): TestSetup {
  return {
    listeners: [
      { name: 'plain', port, protocol: 'HTTPS', hostname: 'a.test', pair: pairs.plain, answers: answer },
      {
        name: 'strict',
        port,
        protocol: 'HTTPS',
        hostname: 'b.test',
        pair: pairs.strict,
        tls: { clientCertificates: { mode: 'AllowValidOnly', caCertificates: clientAuthority } },
      },
    ],
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-sessions-'))
  writeFileSync(join(folder, 'me.crt'), me.certificate)
  writeFileSync(join(folder, 'me.key'), me.privateKey)
  port = await freePort()
  gateway = await startTlsProxy(setup(people.certificate), WORKERS)
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

type Version = '-tls1_2' | '-tls1_3'

interface Visit {
  readonly isReused: boolean
  readonly text: string
}

/** One request by s_client; `session` is brought, `keeps` is where the session is left. */
async function visit(version: Version, options: { session?: string; keeps?: string; name?: string }): Promise<Visit> {
  const { session, keeps, name = 'a.test' } = options
  const file = (at: string): string => join(folder, at)
  const own = ['-cert', file('me.crt'), '-key', file('me.key')]
  const place = ['-connect', `127.0.0.1:${port}`, '-servername', name]
  const child = spawn('openssl', [
    's_client',
    ...place,
    version,
    '-ign_eof',
    ...(session === undefined ? [] : ['-sess_in', file(session)]),
    ...(keeps === undefined ? [] : ['-sess_out', file(keeps)]),
    ...(name === 'b.test' ? own : []),
  ])
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  // The client may be gone before it has read this.
  child.stdin.on('error', () => {})
  child.stdin.write(`GET / HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`)
  await once(child, 'close')
  return { isReused: text.includes('Reused, TLS'), text }
}

const VERSIONS = ['-tls1_2', '-tls1_3'] as const

describe.each(VERSIONS)('s_client %s', (version) => {
  it('resumes on every worker', async () => {
    const first = await visit(version, { keeps: 'session' })
    expect(first.isReused).toBe(false)
    expect(first.text).toContain('HTTP/1.1 200 OK')
    for (let i = 0; i < TRIES; i++) {
      const again = await visit(version, { session: 'session' })
      expect(again.isReused).toBe(true)
      expect(again.text).toContain('HTTP/1.1 200 OK')
    }
  })

  it('resumes in the period after, on every worker, and not in the one after that', { tags: ['full'] }, async () => {
    await visit(version, { keeps: 'session' })
    gateway.proxy.rotateTickets()
    for (let i = 0; i < TRIES; i++) expect((await visit(version, { session: 'session' })).isReused).toBe(true)
    gateway.proxy.rotateTickets()
    for (let i = 0; i < TRIES; i++) expect((await visit(version, { session: 'session' })).isReused).toBe(false)
    // A session of the present period is taken as ever.
    await visit(version, { keeps: 'session' })
    expect((await visit(version, { session: 'session' })).isReused).toBe(true)
  })

  it('resumes after a change of routes, which does not affect TLS', async () => {
    await visit(version, { keeps: 'session' })
    await gateway.apply(setup(people.certificate, 'changed'))
    const again = await visit(version, { session: 'session' })
    expect(again.isReused).toBe(true)
    expect(again.text).toContain('changed')
    await gateway.apply(setup(people.certificate))
  })

  it('shows its certificate each time, also after the authorities have changed', async () => {
    const first = await visit(version, { name: 'b.test', keeps: 'strict' })
    expect(first.text).toContain('HTTP/1.1 200 OK')
    const session = { name: 'b.test', session: 'strict' }
    expect((await visit(version, session).catch(() => first)).isReused).toBe(false)
    await gateway.apply(setup(others.certificate))
    const refused = await visit(version, session)
    expect(refused.text).not.toContain('HTTP/1.1 200 OK')
    await gateway.apply(setup(people.certificate))
  })

  it('a session of one listener opens no other', async () => {
    await visit(version, { keeps: 'session' })
    expect((await visit(version, { name: 'b.test', session: 'session' })).isReused).toBe(false)
  })
})
