// The certificate of the mesh over time: renewal, retries, expiry, changed roots.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { issue, meshCertificate, SPIFFE_ID } from './authority.testing.ts'
import type { MeshCertificate } from './ca-client.ts'
import { IdentityKeeper } from './identity-keeper.ts'

const HOUR_MS = 3_600_000
const root = issue({ commonName: 'root', isAuthority: true, untilMs: Date.now() + 10_000 * HOUR_MS })
const otherRoot = issue({ commonName: 'other', isAuthority: true, untilMs: Date.now() + 10_000 * HOUR_MS })

let roots: string | Error
let answers: (MeshCertificate | Error | Promise<MeshCertificate>)[]
let requests: number[]
let changes: (MeshCertificate | undefined)[]
let lines: string[]
let keeper: IdentityKeeper
let signal: AbortSignal | undefined
let troubles: (string | undefined)[]

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') })
  ;[roots, answers, requests, changes, lines, troubles] = [root.certificate, [], [], [], [], []]
  const write =
    (level: string) =>
    (message: string, fields: object = {}): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const [info, warn, error] = ['info', 'warn', 'error'].map(write)
  keeper = new IdentityKeeper({
    source: {
      request: async (given) => {
        signal = given
        requests.push(Date.now())
        const answer = await (answers.shift() ?? certificate())
        if (answer instanceof Error) throw answer
        return answer
      },
      roots: async () => {
        if (roots instanceof Error) throw roots
        return roots
      },
    },
    logger: { info, warn, error, debug: write('debug'), log: () => undefined, isEnabled: () => true } as never,
    changed: (one) => void changes.push(one),
    troubled: () => void troubles.push(keeper.trouble),
    random: () => 0.5,
  })
})
afterEach(() => {
  keeper.close()
  vi.useRealTimers()
})

function certificate(hours = 24): MeshCertificate {
  const fromMs = Date.now()
  return meshCertificate(root, { spiffeId: SPIFFE_ID, fromMs, untilMs: fromMs + hours * HOUR_MS })
}

async function start(): Promise<number> {
  keeper.start()
  await vi.advanceTimersByTimeAsync(0)
  return Date.now()
}

describe('IdentityKeeper', () => {
  it('requests the next certificate before half of the time is over', async () => {
    const startMs = await start()
    expect(changes).toEqual([keeper.certificate])
    await vi.advanceTimersByTimeAsync(25 * HOUR_MS)
    expect(requests.map((ms) => (ms - startMs) / HOUR_MS)).toEqual([0, 10.8, 21.6])
    expect(changes).toHaveLength(3)
    expect(new Set(changes.map((one) => one?.privateKey)).size).toBe(3)
    expect(keeper.requests).toEqual({ succeeded: 3, failed: 0 })
  })

  it('requests no certificate more than once a second, however short they are', async () => {
    answers = Array.from({ length: 20 }, () => certificate(0.0001))
    await start()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(requests.length).toBeLessThanOrEqual(11)
  })

  it('requests few certificates of an authority that ends soon, although they start in the past', async () => {
    const [fromMs, untilMs] = [Date.now() - 120_000, Date.now() + 240_000]
    answers = Array.from({ length: 300 }, () => meshCertificate(root, { spiffeId: SPIFFE_ID, fromMs, untilMs }))
    const startMs = await start()
    await vi.advanceTimersByTimeAsync(235_000)
    expect(requests.slice(0, 3).map((ms) => ms - startMs)).toEqual([0, 108_000, 167_400])
    expect(requests.length).toBeLessThanOrEqual(8)
  })

  it('lasts for certificates of years, whose timers exceed the limit of Node.js', async () => {
    answers = [certificate(2000)]
    await start()
    await vi.advanceTimersByTimeAsync(800 * HOUR_MS)
    expect(requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(101 * HOUR_MS)
    expect(requests).toHaveLength(2)
  })

  it('retries with a growing delay, and logs a cause once', async () => {
    answers = Array.from({ length: 100 }, () => new Error('no such host'))
    const startMs = await start()
    await vi.advanceTimersByTimeAsync(300_000)
    const seconds = requests.map((ms) => (ms - startMs) / 1000)
    expect(seconds.slice(0, 8)).toEqual([0, 0.75, 2.25, 5.25, 11.25, 23.25, 47.25, 92.25])
    expect(lines.filter((line) => line.startsWith('warn'))).toHaveLength(1)
    expect(keeper.shown()).toMatchObject({ state: 'missing', lastError: 'no such host', failures: requests.length })
    expect(changes).toEqual([])
    answers = []
    await vi.advanceTimersByTimeAsync(60_000)
    expect(keeper.shown()).toMatchObject({ state: 'valid', spiffeId: SPIFFE_ID, failures: 0 })
    expect(keeper.shown()).not.toHaveProperty('lastError')
  })

  it('keeps a valid certificate while the authority is down, and withdraws it when it ends', async () => {
    answers = [certificate(2), ...Array.from({ length: 500 }, () => new Error('down'))]
    await start()
    await vi.advanceTimersByTimeAsync(2 * HOUR_MS - 1)
    expect(keeper.certificate).toBeDefined()
    expect(changes).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(keeper.certificate).toBeUndefined()
    expect(changes.at(-1)).toBeUndefined()
    expect(keeper.shown().state).toBe('expired')
    expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1)
    answers = []
    await vi.advanceTimersByTimeAsync(60_000)
    expect(changes.at(-1)).toBe(keeper.certificate)
    expect(keeper.shown().state).toBe('valid')
  })

  it('reports the trouble of three failed requests in a row, and its end', async () => {
    answers = [...[1, 2, 3].map((at) => new Error(`down ${at}`)), certificate(2)]
    await start()
    await vi.advanceTimersByTimeAsync(10_000)
    const missing = 'it has no certificate; the last request for one failed: down 3'
    expect(troubles).toEqual([undefined, undefined, missing, undefined])

    troubles.length = 0
    answers = Array.from({ length: 500 }, () => new Error('down'))
    const end = new Date(keeper.certificate?.untilMs ?? 0).toISOString()
    await vi.advanceTimersByTimeAsync(1.9 * HOUR_MS)
    expect(troubles.at(-1)).toBe(`its certificate ends at ${end}; the last request for one failed: down`)
    await vi.advanceTimersByTimeAsync(0.1 * HOUR_MS)
    expect(troubles.at(-1)).toBe(`its certificate expired at ${end}; the last request for one failed: down`)
  })

  it('trusts new roots within 10 s, and requests a certificate at once', async () => {
    await start()
    roots = otherRoot.certificate
    await vi.advanceTimersByTimeAsync(10_000)
    expect(changes[1]?.roots).toBe(otherRoot.certificate)
    expect(changes[1]?.chain).toBe(changes[0]?.chain)
    expect(requests).toHaveLength(2)
  })

  it.each<[string, string | Error]>([
    ['unreadable', new Error('gone')],
    ['invalid', 'no certificates'],
  ])('keeps the roots while the file is %s', async (_, now) => {
    await start()
    roots = now
    await vi.advanceTimersByTimeAsync(30_000)
    expect(changes).toHaveLength(1)
    expect(keeper.shown().lastError).toMatch('cannot be read, the previous ones stay')
  })

  it('never has two requests under way', async () => {
    const { promise, resolve } = Promise.withResolvers<MeshCertificate>()
    answers = [certificate(), promise]
    await start()
    roots = otherRoot.certificate
    await vi.advanceTimersByTimeAsync(10_000)
    roots = root.certificate
    await vi.advanceTimersByTimeAsync(10_000)
    expect(requests).toHaveLength(2)
    resolve(certificate())
    await vi.advanceTimersByTimeAsync(0)
    expect(requests).toHaveLength(3)
  })

  it('reports nothing after it is closed', async () => {
    const { promise, resolve } = Promise.withResolvers<MeshCertificate>()
    answers = [promise]
    await start()
    keeper.close()
    expect(signal?.aborted).toBe(true)
    resolve(certificate())
    await vi.advanceTimersByTimeAsync(100 * HOUR_MS)
    expect(changes).toEqual([])
    expect(requests).toHaveLength(1)
  })

  it('shows no key', async () => {
    await start()
    const key = keeper.certificate?.privateKey.split('\n')[1] ?? ''
    expect(key.length).toBeGreaterThan(20)
    expect(JSON.stringify(keeper.shown()) + lines.join()).not.toContain(key)
  })
})
