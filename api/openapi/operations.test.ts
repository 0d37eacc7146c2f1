import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCHEMAS_SIZE_MAX } from './schemas.ts'
import { DOCUMENT_LENGTH_MAX, OPERATIONS_MAX, readOpenApi, type OpenApiDocument } from './operations.ts'

const PETS = readFileSync(join(import.meta.dirname, 'testdata', 'pets.yaml'), 'utf8')

function documentOf(text: string): OpenApiDocument {
  const read = readOpenApi(text)
  if ('problem' in read) throw new Error(read.problem)
  return read
}

const schemaOf = (document: OpenApiDocument, name: string): unknown =>
  JSON.parse(document.operations.find((operation) => operation.name === name)?.inputSchema ?? 'null')

const withOperation = (operation: object, components: object = {}): string =>
  JSON.stringify({ openapi: '3.0.3', paths: { '/a': { get: { operationId: 'a', ...operation } } }, components })

describe('readOpenApi', () => {
  const pets = documentOf(PETS)

  it('makes a tool of each operation with an id', () => {
    expect(pets).toMatchObject({ title: 'Pets', version: '1.2.0', basePath: '/api/v1' })
    expect(pets.operations.map(({ name, method, path }) => `${name} ${method} ${path}`)).toEqual([
      'listPets GET /pets',
      'createPet POST /pets',
      'getPet GET /pets/{id}',
      'deletePet DELETE /pets/{id}',
      'getPhoto GET /pets/{id}/photo',
    ])
    expect(pets.operations[0]?.description).toBe('List pets\n\nAll pets of a tenant.')
  })

  it.each([
    [
      {
        url: 'https://{region}.api.example/{base}/x/',
        variables: { region: { default: 'eu' }, base: { default: 'v2' } },
      },
      '/v2/x',
    ],
    [{ url: '/{base}', variables: { base: { default: '' } } }, ''],
    [{ url: '/{__proto__}/{constructor}' }, '/%7B__proto__%7D/%7Bconstructor%7D'],
    [{ url: 'https://{host}/v1' }, '/v1'],
    [{ url: '{base}/v1', variables: { base: { default: 'https://api.example/a/../b' } } }, '/b/v1'],
  ])('has the defaults of the variables of its server: %j', (server, basePath) => {
    const document = documentOf(JSON.stringify({ openapi: '3.1.0', servers: [server], paths: {} }))
    expect(document.basePath).toBe(basePath)
  })

  it('reports the operations that it leaves out', () => {
    expect(pets.problems).toEqual(['PUT /pets/{id}/photo: its body is not JSON', 'GET /health: it has no operationId'])
  })

  it('groups parameters by their place, without cookies and credentials', () => {
    expect(schemaOf(pets, 'listPets')).toEqual({
      type: 'object',
      required: ['header'],
      properties: {
        header: { type: 'object', properties: { 'X-Tenant': { type: 'string' } }, required: ['X-Tenant'] },
        query: {
          type: 'object',
          required: [],
          properties: {
            limit: { type: 'integer', description: 'At most so many.' },
            tag: { type: 'array', items: { type: 'string' } },
            color: { type: 'array', items: { type: 'string' } },
            filter: { type: 'object' },
          },
        },
      },
    })
  })

  it('resolves the schema of a body, also inside itself, and keeps properties with names of keywords', () => {
    expect(schemaOf(pets, 'createPet')).toMatchObject({
      required: ['header', 'body'],
      properties: {
        body: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
            example: { type: 'string' },
            parent: {},
          },
        },
      },
    })
  })

  it.each([
    ['[', 'line 1'],
    ['[]', 'is not an object'],
    ['swagger: "2.0"', 'is not an OpenAPI document of version 3'],
    ['x'.repeat(DOCUMENT_LENGTH_MAX + 1), `has more than ${DOCUMENT_LENGTH_MAX} characters`],
  ])('rejects a document that is not OpenAPI 3 (%#)', (text, problem) => {
    expect(readOpenApi(text)).toMatchObject({ problem: expect.stringContaining(problem) as unknown })
  })

  it.each([
    [{ parameters: [{ $ref: 'https://evil.example/x.yaml' }] }, 'leads out of the document'],
    [{ parameters: [{ $ref: '/etc/passwd#/a' }] }, 'leads out of the document'],
    [{ parameters: [{ $ref: '#/components/none' }] }, 'has no target'],
    [{ parameters: [{ $ref: '#/components/%zz' }] }, 'is not valid'],
    [{ parameters: [{ name: 'x', in: 'cookie', required: true }] }, 'cookie are not supported'],
    [{ parameters: [{ name: 'x', in: 'path', style: 'matrix' }] }, 'style matrix of x is not supported'],
    [{ operationId: 'a b' }, 'operationId must have'],
  ])('leaves out an operation that cannot be called: %j', (operation, problem) => {
    const { operations, problems } = documentOf(withOperation(operation))
    expect(operations).toEqual([])
    expect(problems).toEqual([expect.stringContaining(problem) as unknown])
  })

  it('leaves out an operation whose path names no parameter, and the second one of a name', () => {
    const get = { operationId: 'a' }
    const { operations, problems } = documentOf(
      JSON.stringify({ openapi: '3.1.0', paths: { '/{x}': { get }, '/a': { get }, '/b': { get } } }),
    )
    expect(operations.map(({ path }) => path)).toEqual(['/a'])
    expect(problems).toEqual([
      'GET /{x}: its path has {x}, which is not a parameter',
      'GET /b: its operationId is used twice',
    ])
  })

  it('limits schemas that expand, and the number of operations', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `s${i}`,
        {
          properties: { a: { $ref: `#/components/schemas/s${i + 1}` }, b: { $ref: `#/components/schemas/s${i + 1}` } },
        },
      ]),
    )
    const parameters = [{ name: 'x', in: 'query', schema: { $ref: '#/components/schemas/s0' } }]
    const bomb = documentOf(withOperation({ parameters }, { schemas: { ...schemas, s40: { type: 'string' } } }))
    expect(bomb.problems).toEqual(['GET /a: a schema has more than 262144 characters'])
    const deep = documentOf(
      withOperation(
        { parameters: [{ name: 'x', in: 'query', schema: { $ref: '#/components/schemas/s0' } }] },
        {
          schemas: Object.fromEntries(
            Array.from({ length: 5000 }, (_, i) => [`s${i}`, { items: { $ref: `#/components/schemas/s${i + 1}` } }]),
          ),
        },
      ),
    )
    expect(deep.problems).toEqual(['GET /a: a schema has more than 250 levels'])
    const loop = withOperation({ parameters: [{ $ref: '#/components/a' }] }, { a: { $ref: '#/components/a' } })
    expect(documentOf(loop).problems).toEqual(['GET /a: a chain of more than 32 references'])
    const paths = Object.fromEntries(
      Array.from({ length: OPERATIONS_MAX + 1 }, (_, i) => [`/${i}`, { get: { operationId: `o${i}` } }]),
    )
    const many = documentOf(JSON.stringify({ openapi: '3.1.0', paths }))
    expect(many.operations).toHaveLength(OPERATIONS_MAX)
    expect(many.problems).toEqual([`GET /${OPERATIONS_MAX}: more than ${OPERATIONS_MAX} operations`])
  })

  it('limits the schemas of all operations together', () => {
    const parameters = [{ name: 'x', in: 'query', schema: { $ref: '#/components/schemas/large' } }]
    const paths = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`/${i}`, { get: { operationId: `o${i}`, parameters } }]),
    )
    const components = { schemas: { large: { type: 'string', description: 'x'.repeat(200_000) } } }
    const { operations, problems } = documentOf(JSON.stringify({ openapi: '3.1.0', paths, components }))
    expect(operations).toHaveLength(Math.floor(SCHEMAS_SIZE_MAX / 200_000))
    expect(problems).toHaveLength(50 - operations.length)
    expect(problems[0]).toBe(
      `GET /${operations.length}: the schemas of the document have more than ${SCHEMAS_SIZE_MAX} characters`,
    )
  })
})
