// The printed CRDs: small enough for every way to install them, and no field or rule lost on the way there.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readKinds } from '../generate.ts'
import { objectSchema } from '../kinds/kind.ts'
import type { SchemaNode } from '../schema/node.ts'
import { crdFile, printCrd } from './crd.ts'
import { shortenDescriptions } from './descriptions.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILE_BYTES_MAX = 600 * 1024
/** What `kubectl apply` sends for all kinds together; etcd stores at most 1.5 MiB of one. */
const SENT_BYTES_MAX = 1024 * 1024
/** One field with limits and description stands on one line. */
const LINE_LENGTH_MAX = 800

const files = readdirSync(join(ROOT, 'config/crd')).filter((name) => name.endsWith('.yaml'))
const textOf = (name: string): string => readFileSync(join(ROOT, 'config/crd', name), 'utf8')

/** Keys that only generators read, and descriptions: never a field of that name, which holds a schema. */
function withoutTexts(value: unknown): unknown {
  const text = JSON.stringify(value, (key, part: unknown) => {
    const isText = key === 'description' || key === 'title' || key === 'x-gw-type-description'
    return isText && typeof part === 'string' ? undefined : part
  })
  return JSON.parse(text)
}

function placesOf(node: SchemaNode, path = ''): Map<string, SchemaNode> {
  const below = Object.entries(node.properties ?? {}).flatMap(([name, child]) => [
    ...placesOf(child, path === '' ? name : `${path}.${name}`),
  ])
  const inner = [node.items, node.additionalProperties].filter((one) => typeof one === 'object')
  return new Map([...inner.flatMap((child) => [...placesOf(child, path)]), ...below, [path, node]])
}

describe.each(files)('%s', (name) => {
  it('is under the limit of one file, in lines that a diff shows whole', () => {
    expect(Buffer.byteLength(textOf(name))).toBeLessThan(FILE_BYTES_MAX)
    expect(
      Math.max(
        ...textOf(name)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThan(LINE_LENGTH_MAX)
  })

  it('sends readers of a shortened description to a place that has the whole', () => {
    const places = placesOf(parse(textOf(name)).spec.versions[0].schema.openAPIV3Schema)
    const cut = [...places].flatMap(([path, { description = '' }]) => {
      const target = /(?:^|\s)See (spec[A-Za-z0-9.]*)\.$/.exec(description)?.[1]
      return target === undefined ? [] : [{ path, description, target }]
    })
    const lost = cut.filter(({ description, target }) => {
      const whole = places.get(target)?.description ?? ''
      return whole.length <= description.length - `See ${target}.`.length || /See spec[A-Za-z0-9.]*\.$/.test(whole)
    })
    expect(lost).toEqual([])
  })
})

it('together they are under the limit of what is sent', () => {
  expect(files.length).toBeGreaterThan(3)
  const sent = files.map((name) => Buffer.byteLength(JSON.stringify(parse(textOf(name)))))
  expect(sent.reduce((total, bytes) => total + bytes, 0)).toBeLessThan(SENT_BYTES_MAX)
})

it('printing changes nothing but descriptions, for readers of YAML 1.1 as well', { tags: ['full'] }, () => {
  const { kinds, failures } = readKinds(ROOT)
  expect(failures).toEqual([])
  for (const kind of kinds) {
    expect(existsSync(join(ROOT, crdFile(kind)))).toBe(true)
    for (const version of ['1.1', '1.2'] as const) {
      const crd = parse(printCrd(kind), { version })
      expect(crd.spec.versions[0].schema.openAPIV3Schema.properties.spec).toBeDefined()
      expect(withoutTexts(crd.spec.versions[0].schema.openAPIV3Schema)).toEqual(withoutTexts(objectSchema(kind)))
    }
  }
})

describe('a repeated description', () => {
  const LONG =
    'Signs requests, e.g. `a. b`, for the cloud. Needs a Secret with an access key and a secret key.\nWhen unset, nothing is signed.\n\nExample: `{}`.'
  const WHOLE =
    'Signs requests, e.g. `a. b`, for the cloud. Needs a Secret with an access key and a secret key. When unset, nothing is signed.\n\nExample: `{}`.'
  const shortened = (properties: Record<string, SchemaNode>): (string | undefined)[] => {
    const root: SchemaNode = { properties: structuredClone(properties) }
    shortenDescriptions(root)
    return Object.values(placesOf(root).get('spec')?.properties ?? {}).map(({ description }) => description)
  }

  it('stays whole at the shallowest place and is a sentence elsewhere', () => {
    const deep: SchemaNode = { properties: { deep: { properties: { signed: { description: LONG } } } } }
    const root: SchemaNode = {
      properties: { spec: { properties: { list: { items: deep }, signed: { description: LONG } } } },
    }
    shortenDescriptions(root)
    const places = placesOf(root)
    expect(places.get('spec.signed')?.description).toBe(WHOLE)
    expect(places.get('spec.list.deep.signed')?.description).toBe(
      'Signs requests, e.g. `a. b`, for the cloud. When unset, nothing is signed. See spec.signed.',
    )
  })

  it('stays whole where the rest contains the default, or hardly any text is saved', () => {
    const preset = {
      description: 'How long a call may take, in all. Three seconds `3s` are enough for most.',
      default: '3s',
    }
    const brief = { description: 'A name. Not a path.' }
    expect(shortened({ spec: { properties: { a: preset, b: preset, c: brief, d: brief } } })).toEqual([
      preset.description,
      preset.description,
      brief.description,
      brief.description,
    ])
  })
})
