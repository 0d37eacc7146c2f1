// Derives manifests at and one past every limit of a schema by changing one value of a valid fixture. For tests only.
import { RE2JS } from 're2js'
import { type CrdKind, type CrdNode, schemaValues, type SchemaValue } from './crd-schema.testing.ts'
import type { Fixture } from './testdata.testing.ts'

export interface LimitCase {
  /** `spec.x[].y maxLength 257` */
  readonly title: string
  readonly object: unknown
  readonly path: string
  /** Whether the changed value itself is within its limits; a rule may still reject the object. */
  readonly isWithin: boolean
}

interface Mutation {
  readonly limit: string
  readonly isWithin: boolean
  readonly value: unknown
  /** Below the place that is changed, such as a field that is taken away. */
  readonly at?: string
}

/**
 * The first valid fixture that has a value at a place gives the cases of that place.
 * @param scope `distinct`: the same field of the same structure once; `every`: at each place it stands
 */
export function limitCases(kind: CrdKind, fixtures: readonly Fixture[], scope: 'distinct' | 'every'): LimitCase[] {
  const seen = new Set<string>()
  const cases: LimitCase[] = []
  for (const fixture of fixtures) {
    if (fixture.error !== undefined || fixture.oldObject !== undefined) continue
    for (const place of schemaValues(kind.schema, fixture.object)) {
      const key = scope === 'every' ? place.pattern : place.kindOfPlace
      if (!place.pattern.startsWith('spec') || seen.has(key)) continue
      seen.add(key)
      cases.push(...casesAt(place, fixture.object))
    }
  }
  return cases
}

function casesAt(place: SchemaValue, object: unknown): LimitCase[] {
  return mutations(place).map(({ limit, isWithin, value, at = '' }) => ({
    title: `${place.pattern} ${limit}`,
    object: replaced(object, place.steps, value),
    path: place.path + at,
    isWithin,
  }))
}

function mutations(place: SchemaValue): Mutation[] {
  const { value } = place
  if (typeof value === 'string') return [...textMutations(place, value), ...otherType(place)]
  if (typeof value === 'number') return [...numberMutations(place), ...otherType(place)]
  if (Array.isArray(value)) return [...listMutations(place, value), ...otherType(place)]
  if (typeof value === 'object' && value !== null) return [...objectMutations(place, { ...value }), ...otherType(place)]
  return otherType(place)
}

function otherType({ node, value, steps }: SchemaValue): Mutation[] {
  // Free content: any type will do.
  if (node.type === undefined && node['x-kubernetes-int-or-string'] !== true) return []
  const other = node['x-kubernetes-int-or-string'] === true || Array.isArray(value) ? true : ['other type']
  const result: Mutation[] = [{ limit: 'type', isWithin: false, value: other }]
  // Null is as good as absent, but in a list it is an entry.
  if (typeof steps.at(-1) === 'string') result.push({ limit: 'null', isWithin: true, value: null })
  return result
}

function textMutations({ node }: SchemaValue, value: string): Mutation[] {
  const result: Mutation[] = []
  const { minLength, maxLength, pattern } = node
  if (node.enum !== undefined) {
    for (const each of node.enum) result.push({ limit: `enum ${String(each)}`, isWithin: true, value: each })
    result.push({ limit: 'enum', isWithin: false, value: 'no-such-value' })
  }
  if (maxLength !== undefined) {
    const atMax = textOfLength(node, value, maxLength)
    if (atMax !== undefined) result.push({ limit: `maxLength ${maxLength}`, isWithin: true, value: atMax })
    result.push({ limit: `maxLength ${maxLength + 1}`, isWithin: false, value: 'a'.repeat(maxLength + 1) })
  }
  if (minLength !== undefined && minLength > 0) {
    const atMin = textOfLength(node, value, minLength)
    if (atMin !== undefined) result.push({ limit: `minLength ${minLength}`, isWithin: true, value: atMin })
    result.push({ limit: `minLength ${minLength - 1}`, isWithin: false, value: 'a'.repeat(minLength - 1) })
  }
  const bad = pattern === undefined ? undefined : UNLIKELY.find((text) => !RE2JS.compile(pattern).matcher(text).find())
  if (bad !== undefined) result.push({ limit: 'pattern', isWithin: false, value: bad })
  return result
}

const UNLIKELY = ['not a value!', ' ', '', '-', '\n', '§']

/** A text of this length that matches the pattern of the node, made from a good one. */
function textOfLength(node: CrdNode, good: string, length: number): string | undefined {
  if (node.enum !== undefined) return undefined
  const fill = 'a'.repeat(length)
  const middle = Math.floor(good.length / 2)
  const candidates = [
    good.length >= length ? good.slice(0, length) : good + fill.slice(good.length),
    good.length >= length ? good.slice(-length) : fill.slice(good.length) + good,
    good.slice(0, middle) + fill.slice(good.length) + good.slice(middle),
    fill,
    '1'.repeat(length),
    '/'.padEnd(length, 'a'),
    labels(length),
  ]
  const { pattern } = node
  return candidates.find((text) => {
    return text.length === length && (pattern === undefined || RE2JS.compile(pattern).matcher(text).find())
  })
}

/** A domain name of this length whose labels have at most 60 characters. */
function labels(length: number): string {
  const text = `${'a'.repeat(60)}.`.repeat(Math.ceil(length / 61)).slice(0, length)
  return text.endsWith('.') ? `${text.slice(0, -1)}a` : text
}

function numberMutations({ node }: SchemaValue): Mutation[] {
  const result: Mutation[] = []
  const { minimum, maximum } = node
  if (minimum !== undefined) {
    result.push({ limit: `minimum ${minimum}`, isWithin: true, value: minimum })
    result.push({ limit: `minimum ${minimum - 1}`, isWithin: false, value: minimum - 1 })
  }
  if (maximum !== undefined) {
    result.push({ limit: `maximum ${maximum}`, isWithin: true, value: maximum })
    result.push({ limit: `maximum ${maximum + 1}`, isWithin: false, value: maximum + 1 })
  }
  return result
}

function listMutations({ node }: SchemaValue, value: readonly unknown[]): Mutation[] {
  const result: Mutation[] = []
  const { minItems, maxItems } = node
  const isUnique = node['x-kubernetes-list-type'] === 'set' || node['x-kubernetes-list-type'] === 'map'
  if (isUnique && value.length > 0) {
    const twice = [...value, value[0]]
    result.push({ limit: 'duplicate', isWithin: false, value: twice, at: `[${value.length}]` })
  }
  if (value.length === 0) return result
  if (maxItems !== undefined) {
    const atMax = listOfLength(node, value, maxItems)
    if (atMax !== undefined) result.push({ limit: `maxItems ${maxItems}`, isWithin: true, value: atMax })
    const over = listOfLength(node, value, maxItems + 1) ?? Array.from({ length: maxItems + 1 }, () => value[0])
    result.push({ limit: `maxItems ${maxItems + 1}`, isWithin: false, value: over })
  }
  if (minItems !== undefined && minItems > 0) {
    result.push({ limit: `minItems ${minItems - 1}`, isWithin: false, value: value.slice(0, minItems - 1) })
  }
  return result
}

/** A list of this length whose entries differ where the schema requires it. */
function listOfLength(node: CrdNode, value: readonly unknown[], length: number): unknown[] | undefined {
  if (value.length >= length) return value.slice(0, length)
  const kind = node['x-kubernetes-list-type']
  const last = value.at(-1)
  const more = Array.from({ length: length - value.length }, (_, index) => {
    if (kind === 'set') return variant(node.items ?? {}, last, index)
    if (kind !== 'map' || typeof last !== 'object' || last === null) return last
    const [key = ''] = node['x-kubernetes-list-map-keys'] ?? []
    const changed = variant(node.items?.properties?.[key] ?? {}, Reflect.get(last, key), index)
    return changed === undefined ? undefined : { ...last, [key]: changed }
  })
  return more.includes(undefined) ? undefined : [...value, ...more]
}

function variant(node: CrdNode, value: unknown, index: number): unknown {
  const numbered = typeof value === 'number' ? index + 1 : `${String(value)}${index}`
  if (node.enum !== undefined) return undefined
  const isOutside =
    typeof numbered === 'number' && (numbered < (node.minimum ?? -Infinity) || numbered > (node.maximum ?? Infinity))
  const { pattern } = node
  const isOdd =
    typeof numbered === 'string' && pattern !== undefined && !RE2JS.compile(pattern).matcher(numbered).find()
  return isOutside || isOdd ? undefined : numbered
}

function objectMutations({ node }: SchemaValue, value: Record<string, unknown>): Mutation[] {
  const result: Mutation[] = []
  for (const name of node.required ?? []) {
    const { [name]: _gone, ...rest } = value
    result.push({ limit: `required ${name}`, isWithin: false, value: rest, at: `.${name}` })
  }
  if (node.properties !== undefined && node['x-kubernetes-preserve-unknown-fields'] !== true) {
    result.push({ limit: 'unknown field', isWithin: false, value: { ...value, zzUnknown: 1 }, at: '.zzUnknown' })
  }
  const { minProperties, maxProperties } = node
  const [sample] = Object.values(value)
  if (node.properties !== undefined || sample === undefined) return result
  if (maxProperties !== undefined) {
    result.push({ limit: `maxProperties ${maxProperties}`, isWithin: true, value: numbered(sample, maxProperties) })
    result.push({
      limit: `maxProperties ${maxProperties + 1}`,
      isWithin: false,
      value: numbered(sample, maxProperties + 1),
    })
  }
  if (minProperties !== undefined && minProperties > 0) {
    result.push({
      limit: `minProperties ${minProperties - 1}`,
      isWithin: false,
      value: numbered(sample, minProperties - 1),
    })
  }
  return result
}

function numbered(sample: unknown, count: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, sample]))
}

function replaced(value: unknown, steps: readonly (string | number)[], next: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return next
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? replaced(item, rest, next) : item))
  const record = { ...Object(value) } as Record<string, unknown>
  return { ...record, [step]: replaced(record[step], rest, next) }
}
