// The repository checks itself: what lives where, who may import whom, what a file must not hold (CONTRIBUTING.md).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const COLUMNS_MAX = 120

/** Folder to the folders it may import besides itself; `*` is everything. Packages are not listed. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'api/v1alpha1': ['api/kube', 'api/problem.ts', 'api/group.ts', 'api/gateway'],
  api: [],
  codegen: ['api/group.ts'],
  operator: ['api', 'deployer'],
  deployer: ['api'],
  proxy: ['api'],
  // `run` and `translate` load the two lazily.
  cli: ['api', 'operator/translate', 'proxy'],
  ui: ['api/admin'],
  bench: ['*'],
  test: ['*'],
  hack: ['*'],
}

/** Used by tests only, though they lie beside what they test. */
const TEST_SUPPORT = new Set(['api/v1alpha1/parity.ts', 'api/v1alpha1/apiserver.ts', 'api/v1alpha1/testdata.ts'])

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.gen.ts') && !file.endsWith('.d.ts'))
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const isTest = (file: string): boolean =>
  file.endsWith('.test.ts') ||
  file.startsWith('test/') ||
  /\/(testdata|bench|conformance)\//.test(file) ||
  TEST_SUPPORT.has(file)

/** Paths below the root that a file imports; packages are left out. */
function importsOf(file: string): string[] {
  const text = read(file)
  const found: string[] = []
  for (const [, specifier = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    if (specifier.startsWith('#')) found.push(specifier.slice(1))
    else if (specifier.startsWith('.')) found.push(normalize(join(dirname(file), specifier)))
  }
  return found
}

function folderRule(file: string): readonly [string, readonly string[]] | undefined {
  return Object.entries(MAY_IMPORT)
    .sort(([a], [b]) => b.length - a.length)
    .find(([folder]) => file.startsWith(`${folder}/`))
}

describe('tidy', () => {
  it('imports follow the direction of the data', () => {
    const wrong: string[] = []
    for (const file of sources.filter((source) => !isTest(source))) {
      const rule = folderRule(file)
      if (rule === undefined || rule[1].includes('*')) continue
      const [folder, allowed] = rule
      for (const target of importsOf(file)) {
        const isAllowed = [folder, ...allowed, 'package.json'].some(
          (place) => target === place || target.startsWith(`${place}/`),
        )
        if (!isAllowed) wrong.push(`${file} imports ${target}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('the data plane does not know Effect, nor do pure parts of the control plane', () => {
    const pure = sources.filter((file) => /^(proxy|deployer|operator\/translate|api)\//.test(file) && !isTest(file))
    expect(pure.filter((file) => /from '(effect|@effect\/)/.test(read(file)))).toEqual([])
  })

  it('no file is a drawer for everything, and none only passes on what others export', () => {
    const named = sources.filter((file) => /(^|\/)(utils?|common|misc|helpers?|shared)(\.ts|\/)/.test(file))
    expect(named).toEqual([])
    const barrels = sources.filter((file) => {
      const lines = read(file)
        .split('\n')
        .filter((line) => line.trim() !== '' && !line.startsWith('//'))
      return lines.length > 0 && lines.every((line) => /^export .* from '/.test(line))
    })
    expect(barrels).toEqual([])
  })

  it('every source says in its first line what it is', () => {
    const silent = sources.filter((file) => !file.endsWith('.test.ts') && !file.endsWith('vitest.config.ts'))
    expect(silent.filter((file) => !/^(\/\/|\/\*|#!)/.test(read(file)))).toEqual([])
  })

  it('lines fit, and nothing is left for later without an issue', () => {
    const wrong: string[] = []
    for (const file of sources) {
      for (const [index, line] of read(file).split('\n').entries()) {
        const place = `${file}:${index + 1}`
        // Long texts of tests and messages may stand in one piece.
        if (line.length > COLUMNS_MAX && !/['"`]/.test(line)) wrong.push(`${place} has ${line.length} columns`)
        if (/\b(TODO|FIXME|XXX|HACK)\b(?! ?\(#\d+\))/.test(line) && file !== 'test/tidy.test.ts')
          wrong.push(`${place} ${line.trim()}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('generated files say so', () => {
    const generated = files.filter((file) => /\.gen\.(ts|js)$/.test(file))
    expect(generated.length).toBeGreaterThan(0)
    expect(
      generated.filter((file) => !/Generated .*make generate.*Do not edit/.test(read(file).slice(0, 400))),
    ).toEqual([])
  })

  it('types hold no any', () => {
    const generated = files.filter((file) => file.endsWith('.gen.ts'))
    expect(
      generated.filter((file) =>
        /[:<|&(]\s*any\b|\bany\[\]/.test(read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
      ),
    ).toEqual([])
  })
})
