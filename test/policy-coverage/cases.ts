// The manifests of the end-to-end cases: their samples, unchanged and with the changes of the cases.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ConformanceCase } from '../conformance/suite/case.ts'
import type { Reader } from './acting.ts'
import type { Setting } from './settings.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CONFORMANCE = join(ROOT, 'test', 'conformance')

/** Time to load and read some hundreds of manifests on a busy machine. */
export const READING_MS = 60_000

/** The values of each setting. */
export async function valuesOfCases(read: Reader): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const used = new Map<string, Set<string>>()
  const files = readdirSync(CONFORMANCE).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  for (const file of files) {
    // test/conformance/suite/run-cases.ts checks that each file has its cases.
    const { cases } = (await import(join(CONFORMANCE, file))) as { cases: readonly ConformanceCase[] }
    for (const { sample, change } of cases) {
      const original = readFileSync(join(ROOT, 'config', 'samples', sample), 'utf8')
      for (const document of parseAllDocuments(change === undefined ? original : change(original))) {
        for (const { setting, value } of read(document.toJS())) {
          const values = used.get(setting) ?? new Set()
          used.set(setting, values.add(String(value)))
        }
      }
    }
  }
  return used
}

/** For settings with a list of values that cases use: each value that no case has, as `path=value`. */
export function valuesNotUsed(
  settings: readonly Setting[],
  used: ReadonlyMap<string, ReadonlySet<string>>,
): readonly Setting[] {
  return settings.flatMap(({ path, values }) => {
    const given = used.get(path)
    if (given === undefined) return []
    return values.filter((value) => !given.has(value)).map((value) => ({ path: `${path}=${value}`, values: [] }))
  })
}
