// Reads our kinds from api/v1alpha1/schema/kinds: names, columns and the resolved schema of the whole object.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord, type SchemaFiles } from '../schema/load.ts'
import type { Rule, SchemaNode } from '../schema/node.ts'
import { resolveInline } from '../schema/resolve.ts'
import { SchemaError } from '../schema/schema-error.ts'
import { byCodePoint } from '../names.ts'

export interface PrinterColumn {
  name: string
  type: string
  jsonPath: string
  description?: string
}

export interface Kind {
  /** Relative to the repository, for messages. */
  readonly file: string
  readonly names: {
    kind: string
    plural: string
    singular: string
    listKind: string
    shortNames?: string[]
    categories?: string[]
  }
  readonly labels: Record<string, string>
  readonly printerColumns: readonly PrinterColumn[]
  readonly description: string
  readonly spec: SchemaNode
  readonly status: SchemaNode | undefined
  readonly rules: readonly Rule[]
}

const KEYS = new Set(['names', 'labels', 'printerColumns', 'description', 'spec', 'status', 'validations'])

export function kindFiles(schemaRoot: string): string[] {
  const folder = join(schemaRoot, 'kinds')
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return names.sort(byCodePoint).map((name) => join(folder, name))
}

export function loadKind(files: SchemaFiles, file: string): Kind {
  const name = files.name(file)
  const value = checkedKind(files.document(file), name)
  const { names, spec, status, labels = {}, printerColumns = [], validations = [], description } = value
  return {
    file: name,
    // Checked below as far as generation depends on it; the rest (short names, columns) the API server checks.
    names: names as Kind['names'],
    labels: labels as Kind['labels'],
    printerColumns: printerColumns as PrinterColumn[],
    description: String(description),
    spec: resolveInline(files, spec, file, ['spec']),
    status: status === undefined ? undefined : resolveInline(files, status, file, ['status']),
    rules: validations as Rule[],
  }
}

function checkedKind(value: unknown, file: string): Record<string, unknown> {
  if (!isRecord(value)) throw new SchemaError(file, [], 'is not a mapping')
  for (const key of Object.keys(value)) {
    if (!KEYS.has(key)) throw new SchemaError(file, [key], 'unknown key of a kind')
  }
  const { names, spec, description } = value
  if (!isRecord(names)) throw new SchemaError(file, ['names'], 'is missing')
  for (const key of ['kind', 'plural', 'singular', 'listKind']) {
    if (typeof names[key] !== 'string') throw new SchemaError(file, ['names', key], 'must be text')
  }
  if (typeof description !== 'string') throw new SchemaError(file, ['description'], 'must be text')
  if (spec === undefined) throw new SchemaError(file, ['spec'], 'is missing')
  return value
}

/** The schema of the whole object, as a CRD holds it (titles still on it). */
export function objectSchema(kind: Kind): SchemaNode {
  const schema: SchemaNode = {
    description: kind.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'Version of the schema this object is written in.' },
      kind: { type: 'string', description: 'Kind of this object.' },
      metadata: { type: 'object' },
      spec: kind.spec,
    },
  }
  if (kind.status !== undefined) schema.properties = { ...schema.properties, status: kind.status }
  if (kind.rules.length > 0) schema['x-kubernetes-validations'] = [...kind.rules]
  return schema
}
