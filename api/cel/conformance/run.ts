// Runs the conformance cases through the engine and returns the failing ones. Test code only; not shipped.
import { compileCel } from '../compile.ts'
import { CelError } from '../expression.ts'
import { typeConstant } from '../engine/names.ts'
import { CelType } from '../values/type-value.ts'
import { CelUint } from '../values/uint.ts'
import { type ConformanceCase, conformanceCases, listItems, mapEntries, type SpecValue } from './cases.ts'

export interface SectionResult {
  passed: number
  total: number
  /** Cases of the section that need protobuf messages. */
  skipped: number
}

export interface ConformanceResult {
  /** Ids of the failing cases, sorted, with their results. */
  readonly failures: ReadonlyMap<string, string>
  readonly sections: ReadonlyMap<string, SectionResult>
}

export function runConformance(): ConformanceResult {
  const { cases, skippedBySection } = conformanceCases()
  const sections = new Map<string, SectionResult>()
  const failures: (readonly [string, string])[] = []
  for (const test of cases) {
    const section = sections.get(test.section) ?? {
      passed: 0,
      total: 0,
      skipped: skippedBySection.get(test.section) ?? 0,
    }
    sections.set(test.section, section)
    section.total++
    const failure = failureOf(test)
    if (failure === undefined) section.passed++
    else failures.push([test.id, failure])
  }
  failures.sort(([a], [b]) => (a < b ? -1 : 1))
  return { failures: new Map(failures), sections }
}

function failureOf(test: ConformanceCase): string | undefined {
  const compilation = compileCel(test.expression)
  if ('problem' in compilation) {
    return test.expected === undefined ? undefined : `${test.expression}: ${compilation.problem.message}`
  }
  try {
    const value = compilation.expression.evaluate(variablesOf(test))
    if (test.expected !== undefined && isExpected(value, test.expected)) return undefined
    return `${test.expression}: gives ${show(value)}`
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    return test.expected === undefined ? undefined : `${test.expression}: ${error.message}`
  }
}

function variablesOf(test: ConformanceCase): Record<string, unknown> {
  return Object.fromEntries(Object.entries(test.variables).map(([name, value]) => [name, celValue(value)]))
}

function celValue({ kind, content }: SpecValue): unknown {
  switch (kind) {
    case 'uint64Value':
      return new CelUint(BigInt(String(content)))
    case 'nullValue':
      return null
    case 'listValue':
      return listItems(content).map(celValue)
    case 'mapValue':
      return new Map(mapEntries(content).map(([key, value]) => [celValue(key), celValue(value)]))
    case 'typeValue':
      return typeConstant(String(content)) ?? new CelType(String(content))
    default:
      return content
  }
}

const COMPARISONS: ReadonlyMap<string, (value: unknown, content: unknown) => boolean> = new Map([
  ['uint64Value', (value, content) => value instanceof CelUint && value.value === content],
  ['doubleValue', (value, content) => Object.is(value, content) || (value === 0 && content === 0)],
  ['nullValue', (value) => value === null],
  ['typeValue', (value, content) => value instanceof CelType && value.name === content],
  ['bytesValue', isExpectedBytes],
  ['listValue', (value, content) => isExpectedList(value, listItems(content))],
  ['mapValue', (value, content) => isExpectedMap(value, mapEntries(content))],
])

/** Equal with the same type; keys of maps compare by value, because maps hold one form of each number. */
function isExpected(value: unknown, { kind, content }: SpecValue): boolean {
  const comparison = COMPARISONS.get(kind)
  return comparison === undefined ? value === content : comparison(value, content)
}

function isExpectedBytes(value: unknown, content: unknown): boolean {
  return value instanceof Uint8Array && content instanceof Uint8Array && Buffer.compare(value, content) === 0
}

function isExpectedList(value: unknown, items: readonly SpecValue[]): boolean {
  return Array.isArray(value) && value.length === items.length && items.every((item, i) => isExpected(value[i], item))
}

function isExpectedMap(value: unknown, entries: readonly (readonly [SpecValue, SpecValue])[]): boolean {
  if (!(value instanceof Map) || value.size !== entries.length) return false
  return entries.every(([key, member]) => {
    const wanted = celValue(key)
    return isExpected(value.get(wanted instanceof CelUint ? wanted.value : wanted), member)
  })
}

function show(value: unknown): string {
  if (typeof value === 'bigint') return `int ${value}`
  if (value instanceof CelUint) return `uint ${value.value}`
  const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}` : inner))
  return `${typeof value} ${text}`
}
