// The part of hack/update-merge-keys.sh that reads the OpenAPI document: keeps the fields that lead to a list or map
// with a patch strategy, of the kinds the deployer makes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TARGET = join(import.meta.dirname, '../deployer/strategicmerge/merge-keys.gen.ts')

const ROOTS: Readonly<Record<string, string>> = {
  ServiceAccount: 'io.k8s.api.core.v1.ServiceAccount',
  Service: 'io.k8s.api.core.v1.Service',
  Deployment: 'io.k8s.api.apps.v1.Deployment',
  DaemonSet: 'io.k8s.api.apps.v1.DaemonSet',
  PodDisruptionBudget: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  HorizontalPodAutoscaler: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
}

/** Types that hold themselves; nothing in them is merged by key. */
const RECURSIVE: ReadonlySet<string> = new Set([
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
])

interface Property {
  readonly $ref?: string
  readonly items?: { readonly $ref?: string }
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
}

interface OpenApi {
  readonly info: { readonly version: string }
  readonly definitions: Readonly<Record<string, { readonly properties?: Readonly<Record<string, Property>> }>>
}

interface Field {
  readonly type?: string
  readonly key?: string
  readonly strategy?: string
}

const [file, mode] = process.argv.slice(2)
if (file === undefined) throw new Error('usage: update-merge-keys.ts OPENAPI [--verify]')
// What an API server serves at /openapi/v2.
const openApi = JSON.parse(readFileSync(file, 'utf8')) as OpenApi
const text = print(openApi)
if (mode !== '--verify') writeFileSync(TARGET, text)
else if (withoutHead(readFileSync(TARGET, 'utf8')) !== withoutHead(text)) {
  console.error('deployer/strategicmerge/merge-keys.gen.ts is out of date: run hack/update-merge-keys.sh')
  process.exitCode = 1
}

/** Another version of Kubernetes with the same keys is as good. */
function withoutHead(file: string): string {
  return file.slice(file.indexOf('\n'))
}

function print({ info, definitions }: OpenApi): string {
  const table: Record<string, Record<string, Field>> = {}
  for (const root of Object.values(ROOTS)) collect(root, definitions, table)
  const sorted = Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)))
  const roots = Object.fromEntries(Object.entries(ROOTS).map(([kind, name]) => [kind, short(name)]))
  return [
    `// Generated from the OpenAPI of Kubernetes ${info.version} by hack/update-merge-keys.sh, not make generate. Do not edit.`,
    "import type { MergeField } from './merge-field.ts'",
    '',
    `export const KIND_TYPES: Readonly<Record<string, string>> = ${JSON.stringify(roots, null, 2)}`,
    '',
    `export const MERGE_FIELDS: Readonly<Record<string, Readonly<Record<string, MergeField>>>> = ${JSON.stringify(sorted, null, 2)}`,
    '',
  ].join('\n')
}

/** @returns whether the type has a strategy in it or below; only such types get into the table. */
function collect(
  name: string,
  definitions: OpenApi['definitions'],
  table: Record<string, Record<string, Field>>,
): boolean {
  if (Object.hasOwn(table, short(name))) return true
  const fields: [string, Field][] = []
  for (const [field, property] of Object.entries(definitions[name]?.properties ?? {})) {
    const below = typeOf(property)
    const hasType = below !== undefined && collect(below, definitions, table)
    const found = { ...(hasType ? { type: short(below) } : {}), ...strategyOf(property) }
    if (Object.keys(found).length > 0) fields.push([field, found])
  }
  if (fields.length > 0) table[short(name)] = Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
  return fields.length > 0
}

function typeOf({ $ref, items }: Property): string | undefined {
  const name = ($ref ?? items?.$ref)?.replace('#/definitions/', '')
  return name !== undefined && RECURSIVE.has(name) ? undefined : name
}

function strategyOf(property: Property): Field {
  const key = property['x-kubernetes-patch-merge-key']
  const strategy = property['x-kubernetes-patch-strategy']
  return { ...(key === undefined ? {} : { key }), ...(strategy === undefined ? {} : { strategy }) }
}

/** `io.k8s.api.core.v1.PodSpec` becomes `core.v1.PodSpec`. */
function short(name: string): string {
  return name.split('.').slice(-3).join('.')
}
