// The editor of `gw run`: its thread, and what the process does after a save.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { filesId, type GivenLoad, type SourceMemory } from '../source.ts'
import { type ClosableEditor, type EditedSource, sourceEditor } from './source-editor.ts'

const TEXT = `gateways: { default: { port: 8080 } }
routes:
  - backends:
      - host: 127.0.0.1:80
        policies: { backendAuth: secret-of-the-backend }
`
/** A main thread that works on the files has some tens of turns meanwhile. */
const TURNS_MIN = 1000
const SIGNAL = new AbortController().signal

let folder: string
let file: string
let reloads: (GivenLoad | undefined)[]
let held: Promise<unknown>[]
let editor: ClosableEditor
const memory: SourceMemory = {}

function start(reload: EditedSource['reload']): void {
  editor = sourceEditor({ path: file, memory, storedKeys: () => [], reload, hold: (saving) => held.push(saving) })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-edit-'))
  file = join(folder, 'gw.yaml')
  writeFileSync(file, TEXT)
  reloads = []
  held = []
  delete memory.last
  start((given) => {
    reloads.push(given)
    return Promise.resolve(undefined)
  })
})

afterEach(async () => {
  await editor.close()
  rmSync(folder, { recursive: true })
})

async function opened(change: (text: string) => string) {
  const [first] = await editor.read()
  if (first?.text === undefined) throw new Error(first?.problem)
  return { path: first.path, etag: first.etag, text: change(first.text) }
}

/** Turns of the event loop of this thread until the work is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isDone = true
  return turns
}

it('saves a file with its credentials, and has the process load it', async () => {
  const edit = await opened((text) => text.replace('8080', '8081'))
  expect(edit.text).toContain('backendAuth: "<hidden:1>"')
  expect(await editor.save(edit)).toMatchObject({ kind: 'saved', problems: [] })
  expect([readFileSync(file, 'utf8'), held.length]).toEqual([TEXT.replace('8080', '8081'), 1])
  const [given] = reloads
  expect(given?.id).toBe(filesId([{ path: file, text: TEXT.replace('8080', '8081') }]))
  expect(given?.source.rendered?.config.binds.map(({ port }) => port)).toEqual([8081])
  expect(JSON.stringify(given?.source.rendered?.secrets)).toContain('secret-of-the-backend')
})

it('has the process load nothing if the file has an error', async () => {
  const edit = await opened((text) => text.replace('- host:', '- hots:'))
  expect(await editor.save(edit)).toMatchObject({ kind: 'invalid', problems: [{ file, line: 4 }] })
  expect([readFileSync(file, 'utf8'), reloads]).toEqual([TEXT, []])
})

it('gives the page only what it asked for', async () => {
  const edit = await opened((text) => text.replace('8080', '8081'))
  expect(Object.keys(await editor.save(edit)).toSorted()).toEqual(['etag', 'kind', 'problems'])
})

it('reports why a saved file is not in force', async () => {
  await editor.close()
  start(() => Promise.resolve('the port is in use'))
  const edit = await opened((text) => text.replace('8080', '8081'))
  expect(await editor.save(edit)).toMatchObject({ kind: 'saved', reason: 'the port is in use' })
})

it('lets the second of two saves of one text lose', async () => {
  const edit = await opened((text) => text.replace('8080', '8082'))
  const kinds = await Promise.all([editor.save(edit), editor.save({ ...edit, text: TEXT.replace('8080', '8083') })])
  expect(kinds.map(({ kind }) => kind)).toEqual(['saved', 'changed'])
  expect(readFileSync(file, 'utf8')).toContain('8082')
})

it('uses the last load of the process, whatever it has become since', async () => {
  const edit = await opened((text) => text)
  const problem = { file, line: 3, column: 1, path: '', message: 'of the process', severity: 'warning' } as const
  memory.last = { id: filesId([{ path: file, text: TEXT }]), secrets: ['routes'], problems: [problem] }
  expect(await editor.check(edit, SIGNAL)).toEqual([problem])
})

it('reports a path that cannot be read', async () => {
  rmSync(file)
  await expect(editor.read()).rejects.toThrow(file)
})

it('leaves the main thread free while it reads, checks and saves', async () => {
  expect(await turnsDuring(() => editor.read())).toBeGreaterThan(TURNS_MIN)
  const routes = Array.from({ length: 2000 }, (_, index) => `  - matches: [{ path: { exact: /${index} } }]\n`).join('')
  writeFileSync(file, `${TEXT}${routes}`)
  const edit = await opened((text) => text.replace('8080', '8081'))
  expect(await turnsDuring(() => editor.check(edit, SIGNAL))).toBeGreaterThan(TURNS_MIN)
  expect(await turnsDuring(() => editor.save(edit))).toBeGreaterThan(TURNS_MIN)
})
