// The OpenAPI documents of MCP targets. A target without a usable document keeps its place, and has no tools: names of
// the other targets stay the same, and they are served.
import type { OpenApiTarget } from '#api/ir/types.gen.ts'
import { DOCUMENT_LENGTH_MAX, type OpenApiDocument, readOpenApi, targetOf } from '#api/openapi/operations.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import type { McpOpenApi } from '#api/v1alpha1/gwbackend.gen.ts'
import { nameKey } from '../object-ref.ts'
import type { Snapshot } from '../snapshot.ts'
import type { BackendContext } from './context.ts'

/** Of a ConfigMap; operator/kube/trim.ts keeps it whatever its length. */
const DOCUMENT_ENTRY = 'openapi.yaml'
/** Bytes of all rendered documents of one backend: a backend is one item of the delivery to the proxies. */
export const RENDERED_BYTES_MAX = 8 * 1024 * 1024
/** Left out operations that the status names; further ones are counted. */
const NAMED_OPERATIONS_MAX = 8
const EMPTY: OpenApiTarget = { basePath: '', title: '', version: '', operations: [] }

type ReadDocument = ReturnType<typeof readOpenApi>

/** By ConfigMap, or by the field with the text. Objects do not change: each document is parsed once. */
const parsed = new WeakMap<object, ReadDocument>()

type DocumentContext = Pick<BackendContext, 'source' | 'report'> & {
  readonly references: { readonly snapshot: Pick<Snapshot, 'ConfigMap'> }
}

export interface DocumentPlace {
  /** Of the field `openapi`. */
  readonly path: FieldPath
  /** In place of the path in the document. */
  readonly urlPath: string | undefined
}

export interface RenderedDocument {
  readonly openapi: OpenApiTarget
  /** Why the target has no tools. The caller reports it. */
  readonly fault?: Omit<Problem, 'severity'>
}

export type RenderDocument = (fields: McpOpenApi, place: DocumentPlace) => RenderedDocument

/** For the targets of one backend, which share limits. */
export function documentRenderer(context: DocumentContext): RenderDocument {
  let characters = 0
  let bytes = 0
  return (fields, { path, urlPath }) => {
    const source = sourceOf(fields, path, context)
    const faulty = (reason: string, message: string): RenderedDocument => ({
      openapi: EMPTY,
      fault: { path: source.path, reason, message: `${message}; the target has no tools` },
    })
    if (source.text === undefined) return faulty('ConfigMapNotFound', source.missing)
    characters += source.text.length
    if (characters > DOCUMENT_LENGTH_MAX) {
      return faulty('InvalidDocument', `the documents of a backend have more than ${DOCUMENT_LENGTH_MAX} characters`)
    }
    const document = parsed.get(source.owner) ?? readOpenApi(source.text)
    parsed.set(source.owner, document)
    if ('problem' in document) return faulty('InvalidDocument', document.problem)
    const openapi = targetOf(document, urlPath)
    bytes += Buffer.byteLength(JSON.stringify(openapi))
    if (bytes > RENDERED_BYTES_MAX) {
      return faulty('InvalidDocument', `the operations of a backend have more than ${RENDERED_BYTES_MAX} bytes`)
    }
    reportLeftOut(document, source.path, context)
    return { openapi }
  }
}

type DocumentSource = { readonly path: FieldPath } & (
  | { readonly text: string; readonly owner: object }
  | { readonly text: undefined; readonly missing: string }
)

function sourceOf({ schema }: McpOpenApi, at: FieldPath, { source, references }: DocumentContext): DocumentSource {
  const { inline, configMapRef } = schema
  if (configMapRef === undefined) return { path: `${at}.schema.inline`, text: inline ?? '', owner: schema }
  const path = `${at}.schema.configMapRef`
  const place = nameKey(source.namespace, configMapRef.name)
  const configMap = references.snapshot.ConfigMap.get(source.namespace, configMapRef.name)
  if (configMap === undefined) return { path, text: undefined, missing: `ConfigMap ${place} not found` }
  const data = configMap.data ?? {}
  const text = Object.hasOwn(data, DOCUMENT_ENTRY) ? data[DOCUMENT_ENTRY] : undefined
  if (text === undefined) return { path, text, missing: `ConfigMap ${place} has no entry ${DOCUMENT_ENTRY}` }
  return { path, text, owner: configMap }
}

function reportLeftOut({ problems }: OpenApiDocument, path: FieldPath, { report }: DocumentContext): void {
  if (problems.length === 0) return
  const more = problems.length > NAMED_OPERATIONS_MAX ? `; and ${problems.length - NAMED_OPERATIONS_MAX} more` : ''
  report.problems.push({
    path,
    reason: 'InvalidOperation',
    message: `these operations are not tools: ${problems.slice(0, NAMED_OPERATIONS_MAX).join('; ')}${more}`,
    severity: 'warning',
  })
}
