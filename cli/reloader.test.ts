import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Reloader, type Reloading } from './reloader.ts'
import { filesId, type GivenLoad, loadRunnable, type LoadedSource, readSource, type SourceMemory } from './source.ts'

const TEXT = 'gateways: { default: { port: 8080 } }\nroutes: [{ name: a }]\n'

/** In which a reload that does not wait is done. */
const TURNS = 200

let folder: string
let path: string
let memory: SourceMemory
let applied: number[][]
let log: string[]
let reloader: Reloader

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-reload-'))
  path = join(folder, 'gw.yaml')
  writeFileSync(path, TEXT)
  memory = {}
  applied = []
  log = []
  const run: Reloading = {
    path,
    source: await loaded(),
    proxy: {
      adminAddress: { host: '127.0.0.1', port: 15_000 },
      apply: async ({ binds }) => {
        applied.push(binds.map(({ port }) => port))
        return { generation: 1, warnings: [] }
      },
    },
    bridge: { expose: (config) => config },
    watch: undefined,
    keySets: { stored: [], follow: () => Promise.resolve() },
    memory,
    report: {
      info: (text) => void log.push(text),
      error: (text) => void log.push(text),
      problems: () => undefined,
    },
    catalogs: { configure: () => false },
  }
  reloader = new Reloader(run)
})

afterEach(() => rmSync(folder, { recursive: true }))

async function loaded(): Promise<LoadedSource> {
  const read = await readSource(path)
  if ('problem' in read) throw new Error(read.problem)
  return loadRunnable(read, [], memory)
}

function write(port: number): string {
  const text = TEXT.replace('8080', String(port))
  writeFileSync(path, text)
  return text
}

/** A load whose configuration has another port than the text, as a mark. */
async function given(text: string, change: Partial<GivenLoad> = {}): Promise<GivenLoad> {
  const source = await loaded()
  if (source.rendered === undefined) throw new Error('not valid')
  const { config, secrets } = source.rendered
  const marked = { ...config, binds: config.binds.map((bind) => ({ ...bind, port: 9999 })) }
  const id = filesId([{ path, text }])
  return { id, storedKeys: [], source: { ...source, rendered: { config: marked, secrets } }, ...change }
}

it('uses the load of another thread if it is of the same files', async () => {
  const load = await given(write(8081))
  expect(await reloader.reloaded(load)).toBeUndefined()
  expect([applied, log]).toEqual([[[9999]], [`reloaded ${path}`]])
  expect(memory.last?.id).toBe(load.id)
})

it.each<[string, (text: string) => Promise<GivenLoad | undefined>]>([
  ['there is no load', () => Promise.resolve(undefined)],
  ['it is of another text', (text) => given(`${text}\n`)],
  ['other keys were used', (text) => given(text, { storedKeys: [{ requestKey: 'a', jwks: '{}' } as never] })],
  [
    'other files are part of it',
    async (text) => {
      const load = await given(text)
      return { ...load, source: { ...load.source, watched: ['/other'] } }
    },
  ],
])('loads the files itself if %s', async (_, of) => {
  const load = await of(write(8081))
  expect(await reloader.reloaded(load)).toBeUndefined()
  expect(applied).toEqual([[8081]])
})

it('does not load files again that it has applied', async () => {
  write(8081)
  await reloader.reloaded(undefined)
  const last = memory.last
  await reloader.reloaded(undefined)
  expect(memory.last).toBe(last)
  write(8082)
  await reloader.reloaded(undefined)
  expect([memory.last === last, applied]).toEqual([false, [[8081], [8082]]])
})

it('reports a file with errors again, and serves the next valid one', async () => {
  writeFileSync(path, 'gateways: 5\n')
  expect(await reloader.reloaded(undefined)).toMatch(/not accepted/)
  expect(await reloader.reloaded(undefined)).toMatch(/not accepted/)
  write(8080)
  expect(await reloader.reloaded(undefined)).toBeUndefined()
  expect(log.at(-1)).toMatch(/no more errors and equals the active configuration/)
})

it('waits with the reload of a watch until a save has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  reloader.hold(promise)
  const load = await given(write(8081))
  reloader.request()
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  expect(applied).toEqual([])
  const done = reloader.reloaded(load)
  resolve()
  await done
  expect(applied).toEqual([[9999]])
})
