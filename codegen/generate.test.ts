// A small kind through all generators, and the same bytes from two runs over the real schemas.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { generateKinds, readKinds } from './generate.ts'
import { Output } from './output.ts'

const KIND = `
names: { kind: GwThing, plural: gwthings, singular: gwthing, listKind: GwThingList, shortNames: [gwt] }
labels: { extra: yes-please }
printerColumns: [{ name: Size, type: integer, jsonPath: .spec.size }]
description: A thing.
spec: { $ref: ../thing/spec.yaml }
status: { title: GwThingStatus, description: Written by the controller., type: object, properties: { ready: { type: boolean, description: Whether. } } }
validations: [{ rule: has(self.spec.size), message: a size is needed }]
`

const OTHER = `
names: { kind: GwOther, plural: gwothers, singular: gwother, listKind: GwOtherList }
description: Another thing.
spec:
  title: GwOtherSpec
  type: object
  properties:
    name: { $ref: ../thing/short.yaml, default: one, x-kubernetes-validations: [{ rule: self != 'no', message: not no }] }
    also: { $ref: ../thing/short.yaml, default: two, x-kubernetes-validations: [{ rule: self != 'yes', message: not yes }] }
    last: { $ref: ../thing/short.yaml }
`

const FILES = {
  'kinds/gwthing.yaml': KIND,
  'kinds/gwother.yaml': OTHER,
  'thing/short.yaml': 'title: ShortText\ndescription: A short text.\ntype: string\nminLength: 1\nmaxLength: 5',
  'thing/spec.yaml': `
title: GwThingSpec
description: What is wanted. Ends with */ on purpose.
type: object
required: [size]
properties:
  size: { type: integer, minimum: 1, maximum: 9, description: How big. }
  port: { x-kubernetes-int-or-string: true, description: Number or name. }
  free: { type: object, x-kubernetes-preserve-unknown-fields: true, description: Anything. }
  mode: { type: string, enum: [Fast, Slow], default: Fast, description: Which way. }
  nested: { type: object, description: Inside., properties: { name: { $ref: short.yaml, description: Its own words. } } }
  names: { type: array, maxItems: 2, items: { $ref: short.yaml }, x-kubernetes-list-type: set, description: Some names. }
`,
}

let root = ''
const output = new Output()

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gw-generate-'))
  for (const [name, text] of Object.entries(FILES)) {
    const file = join(root, 'api/v1alpha1/schema', name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  await generateKinds(readKinds(root).kinds, output)
})

afterAll(() => rmSync(root, { recursive: true }))

describe('a small kind', () => {
  it('becomes a CRD without authoring marks', () => {
    const text = output.text('config/crd/gw.dev_gwthings.yaml') ?? ''
    expect(text).not.toMatch(/\$ref|title:|x-gw-/)
    const crd = parse(text)
    expect(crd.metadata).toEqual({
      name: 'gwthings.gw.dev',
      labels: { app: 'gw', 'app.kubernetes.io/name': 'gw', extra: 'yes-please' },
    })
    const [version] = crd.spec.versions
    expect(version).toMatchObject({ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } })
    expect(version.additionalPrinterColumns.map((column: { name: string }) => column.name)).toEqual(['Size', 'Age'])
    const schema = version.schema.openAPIV3Schema
    expect(schema.required).toEqual(['spec'])
    expect(schema['x-kubernetes-validations']).toEqual([{ rule: 'has(self.spec.size)', message: 'a size is needed' }])
    expect(schema.properties.spec.properties.nested.properties.name).toEqual({
      description: 'Its own words.',
      type: 'string',
      minLength: 1,
      maxLength: 5,
    })
  })

  it('becomes types: open maps, unions, shared names once, the description of the type itself', () => {
    const text = output.text('api/v1alpha1/gwthing.gen.ts') ?? ''
    expect(text).toContain("import type { ShortText } from './shared.gen.ts'")
    expect(text).toContain('  size: number\n')
    expect(text).toContain('  port?: number | string\n')
    expect(text).toMatch(/free\?: \{\s+\[k: string\]: unknown\s+\}/)
    expect(text).toContain("  mode?: 'Fast' | 'Slow'\n")
    expect(text).toContain('  nested?: GwThingSpecNested\n')
    expect(text).toContain('  names?: ShortText[]\n')
    expect(text).toContain("  kind: 'GwThing'\n")
    expect(text).not.toMatch(/\bany\b/)
    const shared = output.text('api/v1alpha1/shared.gen.ts') ?? ''
    expect(shared).toContain('/**\n * A short text.\n */\nexport type ShortText = string')
    expect(shared.match(/export/g)).toHaveLength(1)
  })

  it('becomes a page with type, default, limits and rules', () => {
    const page = output.text('docs/reference/gwthing.md') ?? ''
    expect(page).toContain('| `size` | integer |  | 1 to 9 | Required. How big. |')
    expect(page).toContain('| `mode` | string | `Fast` | one of `Fast`, `Slow` | Which way. |')
    expect(page).toContain('| `nested` | [GwThingSpecNested](#gwthingspecnested) |')
    expect(page).toContain('at most 2 items; no duplicates; each: 1 to 5 characters')
    expect(page).toContain('- a size is needed')
  })
})

describe('a broken schema file', () => {
  it('stops its own kind only, and is named', () => {
    const copy = mkdtempSync(join(tmpdir(), 'gw-broken-'))
    cpSync(root, copy, { recursive: true })
    writeFileSync(
      join(copy, 'api/v1alpha1/schema/thing/spec.yaml'),
      'type: object\nproperties: { a: { $ref: no.yaml } }',
    )
    const { kinds, failures } = readKinds(copy)
    expect(kinds.map(({ names }) => names.kind)).toEqual(['GwOther'])
    expect(failures).toEqual([
      'api/v1alpha1/schema/thing/spec.yaml at properties.a: $ref no.yaml: api/v1alpha1/schema/thing/no.yaml does not exist',
    ])
    rmSync(copy, { recursive: true })
  })
})

describe('a reference page', () => {
  it('has defaults and rules of each place, though places share a type', () => {
    const fields = (output.text('docs/reference/gwother.md') ?? '').split('\n').filter((line) => line.startsWith('| `'))
    expect(fields.filter((line) => /^\| `(name|also|last)`/.test(line))).toEqual([
      '| `name` | string | `one` | 1 to 5 characters | A short text. Rule: not no. |',
      '| `also` | string | `two` | 1 to 5 characters | A short text. Rule: not yes. |',
      '| `last` | string |  | 1 to 5 characters | A short text. |',
    ])
  })
})

describe('output', () => {
  it('is the same from two runs', async () => {
    const again = new Output()
    await generateKinds(readKinds(root).kinds, again)
    expect(again.paths()).toEqual(output.paths())
    for (const path of output.paths()) expect([path, again.text(path)]).toEqual([path, output.text(path)])
  })

  it('reports what differs and what has no source any more', async () => {
    const place = mkdtempSync(join(tmpdir(), 'gw-output-'))
    expect(await output.write(place)).toEqual(output.paths())
    expect(await output.differing(place)).toEqual([])
    writeFileSync(join(place, 'docs/reference/gwthing.md'), 'edited by hand')
    writeFileSync(join(place, 'api/v1alpha1/gone.gen.ts'), '')
    expect(await output.differing(place)).toEqual(['docs/reference/gwthing.md'])
    expect(await output.orphans(place)).toEqual(['api/v1alpha1/gone.gen.ts'])
    rmSync(place, { recursive: true })
  })
})
