// @module-tag full
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'

const MODULE = JSON.stringify(join(import.meta.dirname, 'compiled-code.ts'))
const folders: string[] = []
let folder = ''

/** Prints the folder with compiled code, starts a thread, and loads the same module in both. */
const ENTRY = `
import { Worker } from 'node:worker_threads'
import { compiledCodeVariables, keepCompiledCode } from ${MODULE}
const [beside] = process.argv.slice(2)
console.log(keepCompiledCode(beside) ?? 'none')
await import('./loaded.mjs')
new Worker(new URL('./loaded.mjs', import.meta.url), { env: { ...process.env, ...compiledCodeVariables() } })
`

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-compiled-'))
  folders.push(folder)
  writeFileSync(join(folder, 'entry.mjs'), ENTRY)
  writeFileSync(join(folder, 'loaded.mjs'), 'export const answer = () => 42\n')
})

afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true })
})

interface Start {
  /** Of the main thread; none: no folder. */
  readonly keptIn: string
  /** How often `loaded.mjs` was taken from the folder in place of being compiled. */
  readonly accepted: number
}

function start(beside: string, variables: Record<string, string> = {}): Start {
  const { PATH } = process.env
  const env = { PATH, HOME: join(folder, 'home'), NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...variables }
  const args = ['--disable-warning=ExperimentalWarning', join(folder, 'entry.mjs'), beside]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return { keptIn: stdout.trim(), accepted: stderr.match(/loaded\.mjs was accepted/g)?.length ?? 0 }
}

describe('keepCompiledCode', () => {
  it('lets the next start read compiled code, in the main thread and in a worker', () => {
    const beside = join(folder, 'compiled')
    const first = start(beside)
    expect(first.keptIn).toMatch(new RegExp(`^${beside}/${process.version}-`))
    expect(start(beside)).toEqual({ keptIn: first.keptIn, accepted: 2 })
  })

  it('reads compiled code that has moved together with the modules', () => {
    start(join(folder, 'compiled'))
    const former = folder
    folder = `${former}-moved`
    folders.push(folder)
    renameSync(former, folder)
    expect(start(join(folder, 'compiled')).accepted).toBe(2)
  })

  it.each([
    { what: 'without XDG_CACHE_HOME', variables: {}, below: 'home/.cache/gw' },
    { what: 'with a relative XDG_CACHE_HOME', variables: { XDG_CACHE_HOME: 'cache' }, below: 'home/.cache/gw' },
  ])('falls back to the cache folder of the user, $what', ({ variables, below }) => {
    const { keptIn } = start(join(folder, 'loaded.mjs/compiled'), variables)
    expect(keptIn).toContain(`${join(folder, below)}/`)
  })

  it('falls back to XDG_CACHE_HOME', () => {
    const { keptIn } = start(join(folder, 'loaded.mjs/compiled'), { XDG_CACHE_HOME: join(folder, 'cache') })
    expect(keptIn).toContain(`${join(folder, 'cache/gw')}/`)
  })

  it('has no effect if no folder can be written', () => {
    const variables = { HOME: join(folder, 'loaded.mjs') }
    expect(start(join(folder, 'loaded.mjs/compiled'), variables)).toEqual({ keptIn: 'none', accepted: 0 })
  })

  it('leaves the folder to NODE_COMPILE_CACHE, and has no effect with NODE_DISABLE_COMPILE_CACHE', () => {
    const beside = join(folder, 'compiled')
    const own = join(folder, 'own')
    expect(start(beside, { NODE_COMPILE_CACHE: own }).keptIn).toContain(`${own}/`)
    expect(readdirSync(own)).toHaveLength(1)
    expect(start(beside, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual({ keptIn: 'none', accepted: 0 })
    expect(existsSync(beside)).toBe(false)
  })
})
