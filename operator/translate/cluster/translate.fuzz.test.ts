// Every object of the golden inputs, with one value somewhere inside replaced by junk: translation never throws.
// Objects may come from a newer or an older CRD, or from a manifest without validation.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { goldenFolder, readGolden } from '#test/golden.ts'
import { runs } from '#test/run/runs.ts'
import type { KubeObject } from '../kube.ts'
import { snapshotOf } from '../snapshot.ts'
import { GOLDEN_OPTIONS } from '../golden-options.testing.ts'
import { translate } from './translate.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', 'testdata')
const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const JUNK: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  true,
  '',
  'text',
  '*',
  [],
  [null],
  {},
  { name: 'x' },
  [{ name: 'x' }],
]

const defaults = readGolden(join(ROOT, '_defaults.yaml')).documents
const cases = goldenFolder(ROOT).cases.map(({ inputPath }) => readGolden(inputPath, GOLDEN_OPTIONS).documents)

type Path = ReadonlyArray<string | number>

describe('translate', () => {
  it('never throws, whatever an object holds', () => {
    const input = fc.record({ documents: fc.constantFrom(...cases), at: fc.nat(), junk: fc.constantFrom(...JUNK) })
    fc.assert(
      fc.property(input, ({ documents, at, junk }) => {
        const paths = pathsOf(documents)
        const changed = replaced(documents, paths[at % paths.length] ?? [], junk)
        // Deliberately not the shape of their kinds.
        const objects = [...defaults, ...changed] as KubeObject[]
        expect(() => translate(snapshotOf(objects), SETTINGS)).not.toThrow()
      }),
      { numRuns: runs(1000) },
    )
  })
})

function pathsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => [[key], ...pathsOf(part).map((rest) => [key, ...rest])])
}

function replaced(documents: readonly unknown[], [index, ...rest]: Path, junk: unknown): unknown[] {
  return documents.map((document, position) => (String(position) === index ? change(document, rest, junk) : document))
}

function change(value: unknown, path: Path, junk: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return junk
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? change(item, rest, junk) : item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === key ? change(part, rest, junk) : part]),
  )
}
