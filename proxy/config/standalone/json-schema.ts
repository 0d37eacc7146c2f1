// The JSON Schema of the standalone file, for editors: derived from the schema of the loader. Checks of the loader
// itself (expressions, files, names of other parts of the file) are not in it. Not used by the proxy.
import * as z from 'zod'
import { standaloneFile } from './schema/file.ts'
import { shapesOf } from './schema/object.ts'

type Json = Record<string, unknown>

const VARIABLE = { $ref: '#/$defs/variable' }
const CHECKED_TEXT = ['pattern', 'enum', 'const', 'format', 'minLength', 'maxLength']
const CHECKED_TYPES: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean'])

export function standaloneJsonSchema(): Json {
  const definitions = new Definitions()
  const root = definitions.convert(standaloneFile)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gw standalone file',
    description:
      'The configuration that gw run -f serves without Kubernetes. docs/standalone.md describes all fields. gw validate also checks expressions and files.',
    ...root,
    $defs: {
      variable: { type: 'string', pattern: '\\$', description: 'A text with a variable, such as ${PORT:-8080}' },
      ...definitions.all(),
    },
  }
}

/** Mappings, and shapes that are selected in code, each once. */
class Definitions {
  readonly #names = new Map<z.ZodType, string>()
  readonly #converted: Json = {}
  readonly #recursive: Json = {}

  convert(schema: z.ZodType): Json {
    const {
      $schema: _,
      $defs = {},
      ...converted
    } = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const own = zodSchema instanceof z.ZodObject && zodSchema !== schema ? [zodSchema] : undefined
        const shapes = shapesOf(zodSchema) ?? own
        if (shapes === undefined) return
        for (const name of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, name)
        const references = shapes.map((shape) => this.#reference(shape))
        Object.assign(jsonSchema, references.length === 1 ? references[0] : { anyOf: references })
      },
    })
    // For values of any JSON: the same each time.
    Object.assign(this.#recursive, $defs)
    return withVariables(withoutInvalid(converted))
  }

  #reference(schema: z.ZodType): Json {
    let name = this.#names.get(schema)
    if (name === undefined) {
      name = `shape${this.#names.size + 1}`
      this.#names.set(schema, name)
      this.#converted[name] = this.convert(schema)
    }
    return { $ref: `#/$defs/${name}` }
  }

  all(): Json {
    const named = [...this.#names.values()].map((name) => [name, this.#converted[name]] as const)
    return { ...Object.fromEntries(named), ...this.#recursive }
  }
}

/** Editors must not complete fields that have no valid value. They are errors as all unknown fields are. */
function withoutInvalid(schema: Json): Json {
  const { properties } = schema
  if (!isJson(properties)) return schema
  const valid = Object.entries(properties).filter(([, property]) => !isJson(property) || !isJson(property['not']))
  return { ...schema, properties: Object.fromEntries(valid) }
}

/** A variable may stand for any value; an editor cannot know its content. */
function withVariables(schema: Json): Json {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, name === 'propertyNames' ? value : within(value)]),
  )
  const { type } = schema
  const isChecked = CHECKED_TYPES.has(type) || (type === 'string' && CHECKED_TEXT.some((name) => name in schema))
  return isChecked ? { anyOf: [inner, VARIABLE] } : inner
}

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(within)
  return isJson(value) ? withVariables(value) : value
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
