// The schemas of our CRDs: those in config/crd, and those of released versions. After a release,
//   node test/compatibility/schemas.ts
// keeps those of this version in released/VERSION.json.gz.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { VERSION } from '#api/version.ts'
import type { Schema } from './changes.ts'

const ROOT = join(import.meta.dirname, '../..')
const RELEASED = join(import.meta.dirname, 'released')

/** By `NAME/VERSION` of a CRD. */
export type Schemas = Readonly<Record<string, Schema>>

interface Crd {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

export function currentSchemas(): Schemas {
  const files = globSync('config/crd/*.yaml', { cwd: ROOT }).toSorted()
  return Object.fromEntries(
    files.flatMap((file) => {
      const { metadata, spec } = parse(readFileSync(join(ROOT, file), 'utf8')) as Crd // generated
      return spec.versions.map(({ name, schema }) => [`${metadata.name}/${name}`, schema.openAPIV3Schema])
    }),
  )
}

/** By version. */
export function releasedSchemas(): readonly (readonly [string, Schemas])[] {
  return globSync('*.json.gz', { cwd: RELEASED })
    .toSorted()
    .map((file) => {
      const content = gunzipSync(readFileSync(join(RELEASED, file))).toString()
      return [file.replace('.json.gz', ''), JSON.parse(content) as Schemas] // written below
    })
}

/** The current schemas as they are kept. */
export function schemasText(): string {
  // Descriptions change, and are most of the size.
  return JSON.stringify(currentSchemas(), (key, value: unknown) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  )
}

/** Those of a version; undefined: they are not kept. */
export function keptText(version: string): string | undefined {
  const file = fileOf(version)
  return existsSync(file) ? gunzipSync(readFileSync(file)).toString() : undefined
}

function fileOf(version: string): string {
  return join(RELEASED, `${version}.json.gz`)
}

if (import.meta.main) writeFileSync(fileOf(VERSION), gzipSync(schemasText(), { level: 9 }))
