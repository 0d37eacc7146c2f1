// Compiles JSON Schemas to a standalone JavaScript module by ajv. The only place that knows ajv. The module imports our
// own runtime instead of ajv's: ajv is no dependency of the product.
import { Ajv, _ } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { BANNER } from '../types/print.ts'
import type { AjvSchema } from './structure.ts'

const FORMAT_NAMES = [
  'date-time',
  'date',
  'duration',
  'ipv4',
  'ipv6',
  'cidr',
  'uri',
  'hostname',
  'email',
  'uuid',
  'byte',
]

export interface ValidatorModule {
  /** Each with an `$id`, which the others refer to. */
  readonly schemas: readonly AjvSchema[]
  /** `$id` of the schema that the module checks. */
  readonly entry: string
  /** Import path of the module that has `formats`, `re2`, `codePoints` and `equal`. */
  readonly runtime: string
}

/** Gives a module that exports `validate`. */
export function compileModule({ schemas, entry, runtime }: ValidatorModule): string {
  const ajv = createAjv()
  for (const schema of schemas) ajv.addSchema(schema)
  const validate = ajv.getSchema(entry)
  // Typed as a default export of a CommonJS module.
  const print = standaloneCode as unknown as (ajv: Ajv, validate: unknown) => string
  const code = ownRuntime(print(ajv, validate))
  return `${BANNER}\nimport { codePoints, equal, formats, re2 } from '${runtime}'\n${code}\n`
}

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    messages: false,
    inlineRefs: false,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    code: {
      source: true,
      esm: true,
      lines: true,
      formats: _`formats`,
      regExp: Object.assign((pattern: string, flags: string) => new RegExp(pattern, flags), { code: 're2' }),
    },
  })
  for (const name of FORMAT_NAMES) ajv.addFormat(name, () => true)
  // Widths of numbers: the API server ignores them as well.
  for (const name of ['int32', 'int64', 'float', 'double'])
    ajv.addFormat(name, { type: 'number', validate: () => true })
  return ajv
}

const RUNTIME: Readonly<Record<string, string>> = {
  'ajv/dist/runtime/ucs2length': 'codePoints',
  'ajv/dist/runtime/equal': 'equal',
}

function ownRuntime(code: string): string {
  return code.replace(/^"use strict";\s*/, '').replaceAll(/require\("([^"]+)"\)\.default/g, (_, module: string) => {
    const own = RUNTIME[module]
    if (own === undefined) throw new Error(`no own runtime for ${module}`)
    return own
  })
}
