// `node compare-report.ts COMMITTED RUN`: fails if the report of a run differs from the committed one in more than its
// date and the version of the build. A feature that is no longer claimed, or a skipped test, is a difference.
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { isRecord } from '#api/json.ts'

/** The first differences are enough to find the problem. */
const DIFFERENCES_MAX = 50
const DEPTH_MAX = 16
const PASSING = new Set(['date', 'implementation.version'])

/** One line for each difference. */
export function differences(committed: string, run: string): string[] {
  const found: string[] = []
  compare(parse(committed), parse(run), [], found)
  return found
}

function compare(one: unknown, other: unknown, path: readonly string[], found: string[]): void {
  const name = path.join('.')
  if (PASSING.has(name) || found.length >= DIFFERENCES_MAX || isDeepStrictEqual(one, other)) return
  const [own, its] = [membersOf(one), membersOf(other)]
  if (own === undefined || its === undefined || path.length >= DEPTH_MAX) {
    found.push(`${name}: committed ${JSON.stringify(one)}, run ${JSON.stringify(other)}`)
    return
  }
  for (const key of new Set([...own.keys(), ...its.keys()])) compare(own.get(key), its.get(key), [...path, key], found)
}

/** Entries of lists by name or value, because their order has no meaning. undefined: not a list or an object. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    return new Map(items.map((item) => [isRecord(item) ? String(item['name']) : String(item), item]))
  }
  return isRecord(value) ? new Map(Object.entries(value)) : undefined
}

if (import.meta.main) {
  const [committed, run] = process.argv.slice(2)
  if (committed === undefined || run === undefined) throw new Error('usage: compare-report.ts COMMITTED RUN')
  const found = differences(readFileSync(committed, 'utf8'), readFileSync(run, 'utf8'))
  for (const line of found) console.error(`conformance: ${line}`)
  if (found.length > 0) {
    console.error(`conformance: ${run} differs from ${committed}; mend what fails, or commit the new report`)
    process.exitCode = 1
  }
}
