// Profiles and tasks of a real proxy under load; profiles are opened by the program people open them with.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Profile } from 'pprof-format'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { isFull } from '#test/run/runs.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const execute = promisify(execFile)
/** Go builds its own tools when they are first used: a minute of processor time, so only in `make test-full`. */
const GO_BUILD_MS_MAX = 300_000
const hasGo =
  isFull &&
  (await execute('go', ['version']).then(
    () => true,
    () => false,
  ))
if (isFull && !hasGo) console.warn('go is not installed: profiles are not opened with go tool pprof')

let upstream: Server
let gateway: TestProxy
let folder: string
const held: ServerResponse[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-pprof-test-'))
  upstream = createServer((request, response) => {
    if (request.url?.startsWith('/held') === true) held.push(response)
    else response.end('ok')
  })
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  gateway = await testProxy({ workers: 2, routes: [{ name: 'all', prefix: '/', backend }] })
  // Any end will do: with `-h` the tool prints its flags and fails.
  if (hasGo) await execute('go', ['tool', 'pprof', '-h']).catch(() => undefined)
}, GO_BUILD_MS_MAX)

afterAll(async () => {
  for (const response of held) response.end()
  await gateway.stop()
  closeServer(upstream)
  rmSync(folder, { recursive: true })
})

const admin = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}${path}`, { headers })

/** Requests as long as `work` runs. */
async function underLoad<T>(work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const clients = Array.from({ length: 8 }, async () => {
    while (!over.signal.aborted) await (await fetch(`${gateway.url}/x`)).text()
  })
  const result = await work().finally(() => over.abort())
  await Promise.all(clients)
  return result
}

async function profileOf(path: string): Promise<Buffer> {
  const response = await underLoad(() => admin(path))
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="(cpu|heap)\.pb"$/)
  return Buffer.from(await response.arrayBuffer())
}

const kept: object[] = []

/** In objects of the heap that the engine manages itself. */
function keepMegabytes(count: number): void {
  for (let i = 0; i < count * 16; i++) kept.push(Array.from({ length: 8192 }, () => i))
}

function threadsOf(bytes: Buffer): string[] {
  const { sample, stringTable } = Profile.decode(bytes)
  const names = sample.flatMap(({ label }) => label.map(({ str }) => stringTable.strings[Number(str)] ?? ''))
  return [...new Set(names)].sort()
}

async function top(bytes: Buffer): Promise<string> {
  const file = join(folder, 'profile.pb')
  writeFileSync(file, bytes)
  const { stdout } = await execute('go', ['tool', 'pprof', '-top', file])
  return stdout
}

describe('/debug/pprof', () => {
  it('profile samples all threads', async () => {
    const bytes = await profileOf('/debug/pprof/profile?seconds=1&frequency=1000')
    expect(threadsOf(bytes)).toEqual(expect.arrayContaining(['worker-0', 'worker-1']))
    const profile = Profile.decode(bytes)
    expect(profile.period).toBe(1_000_000)
    expect(Number(profile.durationNanos)).toBeGreaterThan(0.9e9)
    const names = profile.function.map(({ name }) => profile.stringTable.strings[Number(name)])
    expect(names).toContain('handle')
    expect(names).not.toContain('(idle)')
    if (hasGo) expect(await top(bytes)).toMatch(/Type: cpu[\s\S]*flat {2}flat%/)
  })

  it('heap shows what is in use, however long ago it was allocated', { tags: ['full'] }, async () => {
    keepMegabytes(32)
    const bytes = Buffer.from(await (await admin('/debug/pprof/heap?thread=main')).arrayBuffer())
    const { sample, function: functions, stringTable, period } = Profile.decode(bytes)
    expect(period).toBe(512 * 1024)
    const names = functions.map(({ name }) => stringTable.strings[Number(name)])
    expect(names).toContain('keepMegabytes')
    const total = sample.reduce((sum, { value }) => sum + Number(value[1]), 0)
    expect(total).toBeGreaterThan(24 * 1024 * 1024)
    if (hasGo) expect(await top(bytes)).toMatch(/Type: inuse_space[\s\S]*flat {2}flat%[\s\S]* keepMegabytes/)
    kept.length = 0
  })

  it('heap shows with seconds what was allocated in that time', { tags: ['full'] }, async () => {
    keepMegabytes(32)
    const bytes = await profileOf('/debug/pprof/heap?seconds=1')
    const { function: functions, stringTable, durationNanos } = Profile.decode(bytes)
    expect(Number(durationNanos)).toBe(1e9)
    expect(functions.map(({ name }) => stringTable.strings[Number(name)])).not.toContain('keepMegabytes')
    kept.length = 0
  })

  it.each([['0'], ['301'], ['1.5'], [''], ['-1'], ['soon']])(
    'seconds=%s is as if it were not there',
    { tags: ['full'] },
    async (text) => {
      const heap = await profileOf(`/debug/pprof/heap?seconds=${text}`)
      expect(Number(Profile.decode(heap).durationNanos)).toBe(0)
    },
  )

  it.each([['0'], ['1001'], ['fast']])('frequency=%s is as if it were not there', { tags: ['full'] }, async (text) => {
    const cpu = await profileOf(`/debug/pprof/profile?seconds=1&frequency=${text}`)
    expect(Number(Profile.decode(cpu).period)).toBe(1e7)
  })

  it('looks at one thread when asked', { tags: ['full'] }, async () => {
    expect(threadsOf(await profileOf('/debug/pprof/profile?seconds=1&frequency=1000&thread=worker-1'))).toEqual([
      'worker-1',
    ])
    const unknown = await admin('/debug/pprof/profile?thread=worker-2')
    expect([unknown.status, await unknown.text()]).toEqual([400, 'thread: must be one of main, worker-0, worker-1\n'])
  })

  it('makes one profile at a time, and none for a reader that left', async () => {
    const gone = new AbortController()
    const first = fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/debug/pprof/profile?seconds=300`, {
      signal: gone.signal,
    })
    const firstEnd = first.then(
      () => 'answered',
      (error: unknown) => (error instanceof Error ? error.name : ''),
    )
    await expect.poll(async () => (await admin('/debug/pprof/heap?seconds=1')).status).toBe(503)
    gone.abort()
    expect(await firstEnd).toBe('AbortError')
    await expect.poll(async () => (await admin('/debug/pprof/heap?seconds=1')).status, { timeout: 10_000 }).toBe(200)
  })

  it.each(['/debug/pprof/profile', '/debug/pprof/heap', '/debug/tasks', '/debug/trace'])(
    '%s is not for pages of other origins',
    async (path) => {
      expect((await admin(path, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    },
  )
})

describe('/debug/tasks', () => {
  it('lists requests in flight by worker', async () => {
    const waiting = fetch(`${gateway.url}/held?token=secret`)
    await expect.poll(() => held.length).toBe(1)
    // The contract of the endpoint.
    const tasks = (await (await admin('/debug/tasks')).json()) as components['schemas']['Tasks']
    const request = tasks.workload.find((line) => line.includes('/held'))
    const parts = [
      String.raw`worker-\d: request GET 127\.0\.0\.1:\d+/held`,
      String.raw`from 127\.0\.0\.1:\d+`,
      'route ns/all',
      String.raw`endpoint 127\.0\.0\.1:\d+`,
      'state waiting for the backend',
      String.raw`age \d+\.\d{3} s`,
    ]
    expect(request).toMatch(new RegExp(`^${parts.join(', ')}$`))
    expect(tasks.workload.filter((line) => line.endsWith(' requests in flight'))).toHaveLength(2)
    expect(tasks.admin.some((line) => /^main: \d+ TCPServerWrap$/.test(line))).toBe(true)
    held[0]?.end()
    await (await waiting).text()
  })
})
