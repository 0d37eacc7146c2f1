import { expect, it } from 'vitest'
import { DOCUMENT_LENGTH_MAX } from '#api/openapi/operations.ts'
import { emptyReport } from '../policy/field.ts'
import { snapshotOf } from '../snapshot.ts'
import { documentRenderer, RENDERED_BYTES_MAX } from './mcp-openapi.ts'

const source = { group: 'gw.dev', kind: 'GwBackend', namespace: 'shop' }

const renderer = () => {
  const report = emptyReport()
  const render = documentRenderer({ source, report, references: { snapshot: snapshotOf([]) } })
  return { report, render: (inline: string) => render({ schema: { inline } }, { path: 'at', urlPath: undefined }) }
}

/** Each operation has its own copy of one schema, in which quotation marks take twice the space. */
const document = (operations: number, schemaLength: number): string =>
  JSON.stringify({
    openapi: '3.1.0',
    paths: Object.fromEntries(
      Array.from({ length: operations }, (_, i) => [
        `/${i}`,
        {
          get: {
            operationId: `o${i}`,
            parameters: [{ name: 'x', in: 'query', schema: { $ref: '#/components/schemas/large' } }],
          },
        },
      ]),
    ),
    components: { schemas: { large: { type: 'string', description: '"'.repeat(schemaLength) } } },
  })

it('limits the documents of a backend together', () => {
  const { render } = renderer()
  const half = `# ${'x'.repeat(DOCUMENT_LENGTH_MAX / 2)}\n${document(1, 1)}`
  expect(render(half).fault).toBeUndefined()
  expect(render(half)).toEqual({
    openapi: { basePath: '', title: '', version: '', operations: [] },
    fault: {
      path: 'at.schema.inline',
      reason: 'InvalidDocument',
      message: `the documents of a backend have more than ${DOCUMENT_LENGTH_MAX} characters; the target has no tools`,
    },
  })
})

it('limits the operations of a backend together', () => {
  const { render } = renderer()
  const large = document(20, 100_000)
  expect(render(large).openapi.operations).toHaveLength(20)
  expect(render(large)).toMatchObject({
    openapi: { operations: [] },
    fault: {
      message: `the operations of a backend have more than ${RENDERED_BYTES_MAX} bytes; the target has no tools`,
    },
  })
})

it('names eight operations that are not tools, and counts the others', () => {
  const { report, render } = renderer()
  const paths = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/${i}`, { get: {} }]))
  render(JSON.stringify({ openapi: '3.1.0', paths }))
  expect(report.problems).toMatchObject([{ path: 'at.schema.inline', reason: 'InvalidOperation', severity: 'warning' }])
  expect(report.problems[0]?.message).toMatch(/^these operations are not tools: GET \/0: .*GET \/7: [^;]*; and 2 more$/)
})
