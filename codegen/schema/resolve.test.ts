import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SchemaFiles } from './load.ts'
import { resolveFile } from './resolve.ts'
import { SchemaError } from './schema-error.ts'

let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gw-resolve-'))
})

afterEach(() => rmSync(root, { recursive: true }))

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
}

const resolve = (name: string) => resolveFile(new SchemaFiles(root), join(root, name))

describe('resolveFile', () => {
  it('lets siblings of a reference win, and adds up rules and required fields', () => {
    write({
      'a.yaml': `
        $ref: ./types/b.yaml
        description: here
        maxItems: 3
        required: [y]
        properties: { y: { type: string } }
        x-kubernetes-validations: [{ rule: two }]`,
      'types/b.yaml': `
        title: B
        description: there
        type: object
        maxItems: 9
        required: [x]
        properties: { x: { type: integer } }
        x-kubernetes-validations: [{ rule: one }]`,
    })
    expect(resolve('a.yaml')).toEqual({
      title: 'B',
      description: 'here',
      'x-gw-type-description': 'there',
      type: 'object',
      maxItems: 3,
      required: ['x', 'y'],
      properties: { x: { type: 'integer' }, y: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'one' }, { rule: 'two' }],
    })
  })

  it('makes each file of a folder a property', () => {
    write({
      'traffic.yaml': 'type: object\nx-gw-fields: fields\nproperties: { phase: { type: string } }',
      'fields/jwt-authentication.yaml': 'type: object',
      'fields/odd.yaml': 'type: string\nx-gw-field: exactName',
      'fields/notes.txt': 'no field',
    })
    expect(resolve('traffic.yaml').properties).toEqual({
      phase: { type: 'string' },
      jwtAuthentication: { type: 'object' },
      exactName: { type: 'string' },
    })
  })

  it.each([
    [
      'unknown keyword',
      { 'a.yaml': 'properties: { x: { maxLenght: 3 } }' },
      'a.yaml at properties.x.maxLenght: unknown',
    ],
    [
      'missing file',
      { 'a.yaml': 'items: { $ref: ./no.yaml }' },
      'a.yaml at items: $ref ./no.yaml: no.yaml does not exist',
    ],
    ['reference that is not a file', { 'a.yaml': "$ref: '#/definitions/x'" }, 'a.yaml: $ref #/definitions/x must be'],
    [
      'cycle',
      { 'a.yaml': 'items: { $ref: b.yaml }', 'b.yaml': 'items: { $ref: a.yaml }' },
      'cycle a.yaml -> b.yaml -> a.yaml',
    ],
    ['pattern of another engine', { 'a.yaml': "items: { pattern: '(?i)x' }" }, 'a.yaml at items.pattern: is not'],
    ['unknown type', { 'a.yaml': 'type: int' }, 'a.yaml at type: unknown type'],
    ['bad YAML', { 'a.yaml': 'a: [' }, 'a.yaml: '],
    [
      'field given twice',
      { 'a.yaml': 'x-gw-fields: f\nproperties: { x: {} }', 'f/x.yaml': 'type: string' },
      'a.yaml: property x is also a file of f',
    ],
  ])('refuses: %s', (_, files, message) => {
    write(files)
    expect(() => resolve('a.yaml')).toThrow(SchemaError)
    expect(() => resolve('a.yaml')).toThrow(message)
  })
})
