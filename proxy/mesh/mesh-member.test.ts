// The certificate of the mesh among the secrets of workers.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger, type Logger } from '../log/logger.ts'
import { SPIFFE_ID, startAuthority, type TestAuthority, TOKEN } from './authority.testing.ts'
import { MeshMember } from './mesh-member.ts'
import { meshIdentity } from './mesh-secrets.ts'
import { INVALID_CA } from './settings.ts'

const NONE = { version: 1, secrets: [{ key: 'apps/a/tls.key', value: 'secret' }] } as const
let authority: TestAuthority
let member: MeshMember
let lines: string[]
let logger: Logger
const changed = vi.fn<() => void>()

beforeEach(async () => {
  authority = await startAuthority()
  changed.mockClear()
  lines = []
  const filter = { defaultLevel: 'debug', modules: new Map() } as const
  const loggers = createLogger({ format: 'text', filter, write: (line) => void lines.push(line) })
  logger = loggers.module('mesh')
  const settings = { ...authority.settings, additionalTrustDomains: ['b.example'] }
  member = new MeshMember(settings, { logger, changed })
})
afterEach(() => {
  member.close()
  authority.close()
})

function identity(secrets = member.addTo({ ...NONE, secrets: [...NONE.secrets] })) {
  return meshIdentity(({ secret }) => secrets.secrets.find(({ key }) => key === secret)?.value)
}

it('adds the certificate when there is one, and nothing before', async () => {
  expect(identity()).toBeUndefined()
  member.start()
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 10_000 })
  const secrets = member.addTo({ ...NONE, secrets: [...NONE.secrets] })
  expect(secrets.secrets).toContainEqual(NONE.secrets[0])
  expect(identity(secrets)).toMatchObject({
    chain: expect.stringContaining('BEGIN CERTIFICATE'),
    privateKey: expect.stringContaining('BEGIN PRIVATE KEY'),
    roots: authority.root.certificate,
    trustDomains: ['cluster.local', 'b.example'],
  })
  expect(identity(member.addTo(secrets))).toEqual(identity(secrets))
})

it('accepts no certificate of the mesh from elsewhere', () => {
  const planted = ['certificate', 'private-key', 'roots'].map((name) => ({ key: `mesh:${name}`, value: 'planted' }))
  expect(identity(member.addTo({ version: 1, secrets: planted }))).toBeUndefined()
})

it('reports trouble to its listener, also to one that comes late, and no text twice', { tags: ['full'] }, async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const lost = new MeshMember({ ...authority.settings, ca: undefined }, { logger, changed })
  const heard: (string | undefined)[] = []
  const heardLate: (string | undefined)[] = []
  lost.onTrouble((message) => void heard.push(message))
  lost.start()
  while (lost.shown().failures <= 3) {
    await vi.advanceTimersByTimeAsync(1000)
    await nextTurn()
  }
  lost.onTrouble((message) => void heardLate.push(message))
  lost.close()
  vi.useRealTimers()
  expect(heard).toEqual([`it has no certificate; the last request for one failed: ${INVALID_CA}`])
  expect(heardLate).toEqual(heard)
})

it('shows state and metrics without token and key', async () => {
  expect(member.shown()).toMatchObject({ state: 'missing', ca: `127.0.0.1:${authority.server.port}` })
  member.start()
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 10_000 })
  const shown = JSON.stringify([member.shown(), member.metrics().map(({ values }) => values())])
  expect(member.shown()).toMatchObject({ state: 'valid', spiffeId: SPIFFE_ID })
  expect(shown).toContain('{"labels":{"result":"succeeded"},"value":1}')
  for (const secret of [TOKEN, identity()?.privateKey.split('\n')[1] ?? '?']) {
    expect(shown + lines.join()).not.toContain(secret)
  }
})
