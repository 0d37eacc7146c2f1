// Files of the model catalog that change while a proxy runs.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ModelCatalog } from '#proxy/llm/cost/catalog.ts'
import type { OfferedCatalog } from '#proxy/llm/cost/offered-catalog.ts'
import { ModelCatalogs } from './model-catalogs.ts'

let folder = ''
let catalogs: ModelCatalogs | undefined
let offered: OfferedCatalog[] = []
let lines: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-catalog-'))
  offered = []
  lines = []
})
afterEach(() => {
  catalogs?.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(environment: Readonly<Record<string, string>>): ModelCatalogs {
  const report = {
    info: (message: string) => lines.push(`info ${message}`),
    warn: (message: string) => lines.push(`warn ${message}`),
  }
  catalogs = new ModelCatalogs({ environment, report, use: (one) => offered.push(one) })
  return catalogs
}

function priced(input: string, model = 'm'): string {
  return JSON.stringify({ providers: { openai: { models: { [model]: { rates: { input } } } } } })
}

function put(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function rateOf(catalog: ModelCatalog | undefined, model = 'm'): bigint | undefined {
  return catalog?.get('openai')?.get(model)?.rates.input
}

const newest = (): ModelCatalog | undefined => offered.at(-1)?.catalog

it('offers no catalog without a source', () => {
  start({}).configure([])
  expect(offered).toEqual([{ catalog: undefined, sources: [] }])
})

it('merges the files of MODEL_CATALOG_PATHS over the catalog of the configuration, in their order', () => {
  const a = put('a.json', priced('2'))
  const b = put('b.json', priced('3', 'n'))
  const own = {
    name: 'config',
    catalog: new Map([
      [
        'openai',
        new Map([
          ['m', model(1n)],
          ['o', model(9n)],
        ]),
      ],
    ]),
  }
  start({ MODEL_CATALOG_PATHS: `${a}, ${b},${a}` }).configure([own])
  expect(['m', 'n', 'o'].map((name) => rateOf(newest(), name))).toEqual([2_000_000n, 3_000_000n, 9n])
  expect(offered[0]?.sources.map(({ name }) => name)).toEqual(['config', a, b])
})

function model(input: bigint) {
  return { rates: { input }, tiers: undefined, tags: [] }
}

it('keeps the sources of a configuration that becomes invalid', () => {
  const own = [{ name: 'config', catalog: new Map([['openai', new Map([['m', model(1n)]])]]) }]
  const started = start({})
  expect([own, structuredClone(own), undefined, []].map((sources) => started.configure(sources))).toEqual([
    true,
    false,
    false,
    true,
  ])
  expect(offered.map(({ catalog }) => rateOf(catalog))).toEqual([1n, undefined])
})

it('takes a new file, and keeps the last valid content of a file that becomes invalid', async () => {
  const path = put('a.json', priced('1'))
  start({ GW_MODEL_CATALOG_PATHS: path }).configure([])
  put('a.json', priced('2'))
  await expect.poll(() => rateOf(newest())).toBe(2_000_000n)
  expect(lines).toEqual([`info reloaded the model catalog: ${path}`])
  put('a.json', priced('-2'))
  await expect.poll(() => lines.at(-1)).toMatch(/^warn /)
  expect(lines.slice(1)).toEqual([
    `warn model catalog: ${path}: providers.openai.models.m.rates.input: must be a decimal number in USD per ` +
      'million tokens with at most 6 decimals, for example "2.50"; its last valid content stays in use',
  ])
  rmSync(path)
  await expect.poll(() => lines.length).toBe(3)
  expect(lines[2]).toBe(
    `warn model catalog: ${path} cannot be read: it does not exist; its last valid content stays in use`,
  )
  expect(offered).toHaveLength(2)
  put('a.json', priced('3'))
  await expect.poll(() => rateOf(newest())).toBe(3_000_000n)
})

it('takes a file that is created after the start', async () => {
  const [path, other] = [join(folder, 'late.json'), put('b.json', priced('1', 'n'))]
  start({ MODEL_CATALOG_PATHS: `${path},${other}` }).configure([])
  expect(lines).toEqual([`warn model catalog: ${path} cannot be read: it does not exist; it is ignored`])
  put('late.json', priced('4'))
  await expect.poll(() => rateOf(newest())).toBe(4_000_000n)
  expect(rateOf(newest(), 'n')).toBe(1_000_000n)
})

it('takes the next version of a mounted ConfigMap', async () => {
  const version = (name: string, text: string): void => {
    mkdirSync(join(folder, name))
    put(`${name}/prices.json`, text)
    symlinkSync(name, join(folder, '..next'))
    renameSync(join(folder, '..next'), join(folder, '..data'))
  }
  version('..1', priced('1'))
  const path = join(folder, 'prices.json')
  symlinkSync('..data/prices.json', path)
  start({ MODEL_CATALOG_PATHS: path }).configure([])
  expect(rateOf(newest())).toBe(1_000_000n)
  version('..2', priced('2'))
  await expect.poll(() => rateOf(newest())).toBe(2_000_000n)
})

it('uses at most 16 files', () => {
  const paths = Array.from({ length: 17 }, (_, index) => put(`${index}.json`, priced('1', `m${index}`)))
  start({ MODEL_CATALOG_PATHS: paths.join(',') }).configure([])
  expect(offered[0]?.sources).toHaveLength(16)
  expect(lines).toEqual(['warn MODEL_CATALOG_PATHS: only the first 16 files are used'])
})
