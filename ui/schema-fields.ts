// Fields of a form from a JSON Schema: one for each property of the object, and the values that the user typed. Pure.
export interface SchemaField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'choice' | 'json'
  /** Of a choice; the empty text leaves the property out. */
  readonly options: readonly string[]
  readonly isRequired: boolean
  readonly description: string
}

type Fields = Readonly<Record<string, unknown>>

export function fieldsOfSchema(schema: unknown): SchemaField[] {
  const { properties, required } = fieldsOf(schema)
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(fieldsOf(properties)).map(([name, property]) => {
    const { type, enum: values, description } = fieldsOf(property)
    const isRequired = names.includes(name)
    const shared = { name, isRequired, description: typeof description === 'string' ? description : '' }
    const offered = optionsOf(type, values)
    if (offered !== undefined) return { ...shared, kind: 'choice', options: isRequired ? offered : ['', ...offered] }
    return { ...shared, kind: kindOf(type), options: [] }
  })
}

function optionsOf(type: unknown, values: unknown): string[] | undefined {
  if (type === 'boolean') return ['true', 'false']
  const isTexts = Array.isArray(values) && values.every((value) => typeof value === 'string')
  return isTexts ? values : undefined
}

function kindOf(type: unknown): 'text' | 'number' | 'json' {
  if (type === 'string') return 'text'
  return type === 'number' || type === 'integer' ? 'number' : 'json'
}

/** Empty fields are left out. @throws {SyntaxError} A text is not of the kind of its field. */
export function valuesOf(
  fields: readonly SchemaField[],
  texts: ReadonlyMap<string, string>,
  schema: unknown,
): Record<string, unknown> {
  const properties = fieldsOf(fieldsOf(schema)['properties'])
  const entries = fields.flatMap((field): [string, unknown][] => {
    const { name, kind, options, isRequired } = field
    const text = texts.get(name) ?? (kind === 'choice' ? (options[0] ?? '') : '')
    if (text === '') return isRequired && kind === 'text' ? [[name, '']] : []
    const isBoolean = fieldsOf(properties[name])['type'] === 'boolean'
    return [[name, kind === 'text' || (kind === 'choice' && !isBoolean) ? text : parsed(name, text)]]
  })
  return Object.fromEntries(entries)
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`${name}: ${error instanceof Error ? error.message : 'not valid JSON'}`, { cause: error })
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
