// Functions on texts and lists in CEL rules that the engine itself lacks.
import type { Environment } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { equal, re2 } from '../runtime.ts'

export function registerTexts(environment: Environment): void {
  environment
    // `matches` of the engine is JavaScript's; rules are rewritten to this one.
    .registerFunction('string.re2Matches(string): bool', (text: string, pattern: string) => re2(pattern).test(text))
    .registerFunction('string.find(string): string', (text: string, pattern: string) => {
      const matcher = RE2JS.compile(pattern).matcher(text)
      return matcher.find() ? (matcher.group() ?? '') : ''
    })
    .registerFunction('string.findAll(string): list<string>', findAll)
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) => {
      const found = findAll(text, pattern)
      return limit < 0n ? found : found.slice(0, Number(limit))
    })
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => {
      const points = Array.from(text)
      if (index < 0n || index > points.length) throw new RangeError('index out of range')
      return points[Number(index)] ?? ''
    })
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) => {
      return text.split(from).join(to)
    })
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.format(list<dyn>): string', format)
}

export function registerLists(environment: Environment): void {
  environment
    .registerFunction('list<dyn>.isSorted(): bool', (list: readonly Ordered[]) => {
      return list.every((item, index) => index === 0 || (list[index - 1] ?? item) <= item)
    })
    .registerFunction('list<dyn>.sum(): dyn', (list: readonly (bigint | number)[]) => {
      // CEL lists of numbers have one type.
      if (list.some((item) => typeof item === 'number'))
        return list.reduce<number>((sum, item) => sum + Number(item), 0)
      return list.reduce<bigint>((sum, item) => sum + BigInt(item), 0n)
    })
    .registerFunction('list<dyn>.min(): dyn', (list: readonly Ordered[]) =>
      extreme(list, (left, right) => left < right),
    )
    .registerFunction('list<dyn>.max(): dyn', (list: readonly Ordered[]) =>
      extreme(list, (left, right) => left > right),
    )
    .registerFunction('list<dyn>.indexOf(dyn): int', (list: readonly unknown[], wanted: unknown) => {
      return BigInt(list.findIndex((item) => equal(item, wanted)))
    })
    .registerFunction('list<dyn>.lastIndexOf(dyn): int', (list: readonly unknown[], wanted: unknown) => {
      return BigInt(list.findLastIndex((item) => equal(item, wanted)))
    })
}

type Ordered = bigint | number | string | boolean

function extreme(list: readonly Ordered[], isBetter: (left: Ordered, right: Ordered) => boolean): Ordered {
  const [first, ...rest] = list
  if (first === undefined) throw new RangeError('min and max need an entry')
  return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first)
}

function findAll(text: string, pattern: string): string[] {
  const matcher = RE2JS.compile(pattern).matcher(text)
  const found: string[] = []
  while (matcher.find()) found.push(matcher.group() ?? '')
  return found
}

function replaceSome(text: string, from: string, to: string, limit: bigint): string {
  const parts = text.split(from)
  if (limit < 0n || limit >= parts.length - 1) return parts.join(to)
  const count = Number(limit)
  return [...parts.slice(0, count), parts.slice(count).join(from)].join(to)
}

function format(template: string, values: readonly unknown[]): string {
  let next = 0
  return template.replaceAll(/%(?:\.(\d+))?([sdfxXob%])/g, (_, digits: string | undefined, verb: string) => {
    if (verb === '%') return '%'
    if (next >= values.length) throw new RangeError('format: too few values')
    const value = values[next]
    next += 1
    return formatOne(value, verb, Number(digits ?? '6'))
  })
}

function formatOne(value: unknown, verb: string, digits: number): string {
  if (verb === 'f') return Number(value).toFixed(Math.min(digits, 100))
  if (typeof value === 'boolean' && verb === 'b') return value ? '1' : '0'
  const radix = { x: 16, X: 16, o: 8, b: 2 }[verb]
  if (radix === undefined || typeof value !== 'bigint') return textOf(value)
  const text = value.toString(radix)
  return verb === 'X' ? text.toUpperCase() : text
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
