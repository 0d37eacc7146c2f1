// Which changes of a CRD schema reject or change an object that its previous version accepted.

/** A part of `openAPIV3Schema`. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[]
}

/** A smaller value rejects more. */
const UPPER = ['maximum', 'maxLength', 'maxItems', 'maxProperties']
/** A larger value rejects more. */
const LOWER = ['minimum', 'minLength', 'minItems', 'minProperties']
/** Any change but their removal rejects more, or has another meaning. */
const FIXED = [
  'type',
  'format',
  'pattern',
  'default',
  'not',
  'anyOf',
  'oneOf',
  'allOf',
  'uniqueItems',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
]
/** Their removal rejects more, or has another meaning. */
const PERMISSIONS = [
  'default',
  'nullable',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'type',
]

/** `PATH: WHAT`, of everything that is stricter or missing in `after`. */
export function breakingChanges(before: Schema, after: Schema | undefined, path: string): string[] {
  if (after === undefined) return [`${path}: was removed`]
  const found = [...ofLimits(before, after), ...ofKeywords(before, after), ...ofValues(before, after)]
  return [...found.map((what) => `${path}: ${what}`), ...ofChildren(before, after, path)]
}

function ofLimits(before: Schema, after: Schema): string[] {
  const stricter = (name: string, sign: 1 | -1): boolean => {
    const [old, now] = [before[name], after[name]]
    return typeof now === 'number' && (typeof old !== 'number' || sign * (now - old) > 0)
  }
  return [...UPPER.filter((name) => stricter(name, -1)), ...LOWER.filter((name) => stricter(name, 1))].map(
    (name) => `${name} ${text(before[name])} became ${text(after[name])}`,
  )
}

function ofKeywords(before: Schema, after: Schema): string[] {
  const isEqual = (name: string): boolean => text(before[name]) === text(after[name])
  return [
    ...FIXED.filter((name) => after[name] !== undefined && !isEqual(name)),
    ...PERMISSIONS.filter((name) => before[name] !== undefined && after[name] === undefined),
  ].map((name) => `${name} ${text(before[name])} became ${text(after[name])}`)
}

function ofValues(before: Schema, after: Schema): string[] {
  const values = (before.enum ?? []).filter((value) => after.enum !== undefined && !after.enum.includes(value))
  const rules = new Set(before['x-kubernetes-validations']?.map(({ rule }) => rule))
  return [
    ...values.map((value) => `the value ${text(value)} was removed`),
    ...(before.enum === undefined && after.enum !== undefined ? ['only some values are accepted'] : []),
    ...(after.required ?? [])
      .filter((name) => before.required?.includes(name) !== true)
      .map((name) => `requires ${name}`),
    ...(after['x-kubernetes-validations'] ?? [])
      .filter(({ rule }) => !rules.has(rule))
      .map(({ rule }) => `has the new rule ${rule}`),
  ]
}

function ofChildren(before: Schema, after: Schema, path: string): string[] {
  const { additionalProperties: map } = before
  return [
    ...Object.entries(before.properties ?? {}).flatMap(([name, schema]) =>
      breakingChanges(schema, after.properties?.[name], `${path}.${name}`),
    ),
    ...(before.items === undefined ? [] : breakingChanges(before.items, after.items, `${path}[]`)),
    ...(typeof map === 'object' ? breakingChanges(map, schemaOf(after.additionalProperties), `${path}{}`) : []),
  ]
}

function schemaOf(value: Schema['additionalProperties']): Schema | undefined {
  return typeof value === 'object' ? value : undefined
}

function text(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value)
}
