// `kubectl explain` has something to say about every field of every kind.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const FOLDER = join(import.meta.dirname, '../../config/crd')
/** Shorter ones hardly say more than a name does. */
const LENGTH_MIN = 18

interface Schema {
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
}

interface Field {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly preset: unknown
}

/** Of Kubernetes itself; explain takes its own words for them. */
const FOREIGN = new Set(['apiVersion', 'kind', 'metadata'])

function fieldsOf(schema: Schema, path: string): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    if (path.split('.').length === 1 && FOREIGN.has(name)) return []
    const at = `${path}.${name}`
    return [{ path: at, name, description: child.description ?? '', preset: child.default }, ...fieldsOf(child, at)]
  })
  const values = typeof schema.additionalProperties === 'object' ? fieldsOf(schema.additionalProperties, path) : []
  return [...own, ...values, ...(schema.items === undefined ? [] : fieldsOf(schema.items, path))]
}

function kinds(): { kind: string; schema: Schema }[] {
  return readdirSync(FOLDER)
    .filter((file) => file.startsWith('gw.dev_'))
    .flatMap((file) => {
      const { spec } = parse(readFileSync(join(FOLDER, file), 'utf8')) as {
        spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: Schema } }[] }
      } // a CustomResourceDefinition
      return spec.versions.map(({ schema }) => ({ kind: spec.names.kind, schema: schema.openAPIV3Schema }))
    })
}

/** Letters only: `TLS settings` for `tlsSettings` says nothing. */
function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z]/g, '')
}

/** In whatever words; or the value itself, where it is a number, a duration or a name. */
function namesPreset({ description, preset }: Field): boolean {
  if (preset === undefined || /\bunset\b|\bdefaults?\b/i.test(description)) return true
  return typeof preset !== 'object' && description.includes(JSON.stringify(preset).replaceAll('"', ''))
}

describe('descriptions', () => {
  it.each(kinds())('every field of $kind has one that says more than its name', ({ kind, schema }) => {
    const fields = fieldsOf(schema, kind)
    expect(fields.length).toBeGreaterThan(10)
    expect(schema.description?.length ?? 0).toBeGreaterThan(LENGTH_MIN)
    const poor = fields.filter(({ name, description }) => {
      const text = description.trim()
      return text.length < LENGTH_MIN || letters(text) === letters(name) || letters(text) === `the${letters(name)}`
    })
    expect(poor.map(({ path, description }) => `${path}: ${JSON.stringify(description)}`)).toEqual([])
  })

  it.each(kinds())('every field of $kind with a default or preset names it in its description', ({ kind, schema }) => {
    const silent = fieldsOf(schema, kind).filter((field) => !namesPreset(field))
    expect(silent.map(({ path, preset }) => `${path}: ${JSON.stringify(preset)}`)).toEqual([])
  })
})
