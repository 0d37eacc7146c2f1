// The operations of an OpenAPI 3 document as tools (data-plane supplement section 4.7). Pure: reads only the text.
import type { OpenApiOperation, OpenApiParameter, OpenApiTarget } from '../ir/types.gen.ts'
import { isRecord, recordOf, type JsonRecord } from '../json.ts'
import { parseDocuments } from '../source/document.ts'
import { BrokenReference, followed, schemaResolver, type ResolveSchema } from './schemas.ts'

/** Characters of a document. */
export const DOCUMENT_LENGTH_MAX = 2 * 1024 * 1024
export const OPERATIONS_MAX = 1000
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const
/** Names of tools (MCP 2025-11-25, "Tool names"). */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json(?:;|$)/i
/** OpenAPI 3.1, "Parameter Object": the definitions of these are ignored. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])
const DEFAULT_STYLE = { path: 'simple', header: 'simple', query: 'form' } as const
const STYLES: { readonly [I in OpenApiParameter['in']]: readonly string[] } = {
  path: ['simple'],
  header: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
}

export interface OpenApiDocument {
  /** Of the first server, without a slash at the end: it is put in front of paths. */
  readonly basePath: string
  readonly title: string
  readonly version: string
  readonly operations: readonly OpenApiOperation[]
  /** Operations that are left out, and why. */
  readonly problems: readonly string[]
}

/** The contract of the proxy. `path`: in front of the paths of operations, in place of that of the document. */
export function targetOf(document: OpenApiDocument, path: string | undefined): OpenApiTarget {
  const { operations, basePath, title, version } = document
  return { basePath: path?.replace(/\/+$/, '') ?? basePath, title, version, operations: [...operations] }
}

/** `problem`: the document cannot be used. */
export function readOpenApi(text: string): OpenApiDocument | { readonly problem: string } {
  if (text.length > DOCUMENT_LENGTH_MAX) return { problem: `has more than ${DOCUMENT_LENGTH_MAX} characters` }
  const { documents, problems } = parseDocuments('openapi', text)
  const [problem] = problems
  if (problem !== undefined) return { problem: `line ${problem.line}: ${problem.message}` }
  const root = documents[0]?.value
  if (!isRecord(root)) return { problem: 'is not an object' }
  if (typeof root['openapi'] !== 'string' || !root['openapi'].startsWith('3.')) {
    return { problem: 'is not an OpenAPI document of version 3' }
  }
  return documentOf(root)
}

function documentOf(root: JsonRecord): OpenApiDocument {
  const operations = new Map<string, OpenApiOperation>()
  const problems: string[] = []
  const resolve = schemaResolver(root)
  for (const [path, method, value] of operationsIn(root, problems)) {
    const place = `${method.toUpperCase()} ${path}`
    const operation = operationOf(root, { path, method, resolve, ...value })
    if (typeof operation === 'string') problems.push(`${place}: ${operation}`)
    else if (operations.has(operation.name)) problems.push(`${place}: its operationId is used twice`)
    else if (operations.size === OPERATIONS_MAX) problems.push(`${place}: more than ${OPERATIONS_MAX} operations`)
    else operations.set(operation.name, operation)
  }
  const { title, version } = recordOf(root['info'])
  return {
    basePath: basePathOf(root),
    title: typeof title === 'string' ? title : '',
    version: typeof version === 'string' ? version : '',
    operations: [...operations.values()],
    problems,
  }
}

interface Found {
  readonly operation: JsonRecord
  /** Of the path and of the operation. */
  readonly parameters: readonly unknown[]
}

function operationsIn(root: JsonRecord, problems: string[]): (readonly [string, string, Found])[] {
  return Object.entries(recordOf(root['paths'])).flatMap(([path, item]) => {
    try {
      const operations = followed(root, item)
      return METHODS.flatMap((method) => {
        const operation = operations[method]
        if (!isRecord(operation)) return []
        return [[path, method, { operation, parameters: [...listOf(operations), ...listOf(operation)] }] as const]
      })
    } catch (error) {
      if (!(error instanceof BrokenReference)) throw error
      problems.push(`${path}: ${error.message}`)
      return []
    }
  })
}

function listOf({ parameters }: JsonRecord): readonly unknown[] {
  return Array.isArray(parameters) ? parameters : []
}

interface Place {
  readonly path: string
  readonly method: string
}

/** A text: why the operation is left out. */
function operationOf(
  root: JsonRecord,
  { path, method, operation, parameters, resolve }: Found & Place & { readonly resolve: ResolveSchema },
): OpenApiOperation | string {
  const { operationId: name, summary, description } = operation
  if (typeof name !== 'string') return 'it has no operationId'
  if (!TOOL_NAME.test(name)) return `its operationId must have 1 to 128 of A-Z, a-z, 0-9, "_", "." and "-"`
  try {
    const inputs = inputsOf(root, parameters, resolve)
    const body = bodyOf(root, operation['requestBody'], resolve)
    const missing = [...path.matchAll(/\{([^}]+)\}/g)].find(([, part]) => !inputs.names.has(`path ${part}`))
    if (missing !== undefined) return `its path has ${missing[0]}, which is not a parameter`
    const texts = [summary, description].filter((text) => typeof text === 'string')
    return {
      name,
      ...(texts.length > 0 && { description: texts.join('\n\n') }),
      method: method.toUpperCase(),
      path,
      parameters: inputs.parameters,
      ...(body !== undefined && { bodyType: body.type }),
      inputSchema: JSON.stringify(inputSchema(inputs.schemas, body)),
    }
  } catch (error) {
    if (error instanceof BrokenReference) return error.message
    throw error
  }
}

interface Inputs {
  readonly parameters: OpenApiParameter[]
  /** `path id` */
  readonly names: ReadonlySet<string>
  readonly schemas: ReadonlyMap<
    OpenApiParameter['in'],
    { readonly properties: JsonRecord; readonly required: string[] }
  >
}

/** Those of the operation replace those of its path. @throws {BrokenReference} */
function inputsOf(root: JsonRecord, list: readonly unknown[], resolve: ResolveSchema): Inputs {
  const named = new Map<string, JsonRecord>()
  for (const one of list) {
    const parameter = followed(root, one)
    named.set(`${String(parameter['in'])} ${String(parameter['name'])}`, parameter)
  }
  const parameters: OpenApiParameter[] = []
  const schemas = new Map<OpenApiParameter['in'], { properties: Record<string, unknown>; required: string[] }>()
  for (const parameter of named.values()) {
    const rendered = parameterOf(parameter)
    if (rendered === undefined) continue
    parameters.push(rendered)
    const group = schemas.get(rendered.in) ?? { properties: {}, required: [] }
    schemas.set(rendered.in, group)
    const { description } = parameter
    const schema = resolve(parameter['schema'] ?? {})
    group.properties[rendered.name] =
      typeof description === 'string' && !('description' in schema) ? { ...schema, description } : schema
    if (rendered.in === 'path' || parameter['required'] === true) group.required.push(rendered.name)
  }
  return { parameters, names: new Set(named.keys()), schemas }
}

/** undefined: it is not sent. @throws {BrokenReference} if the server needs it. */
function parameterOf({ in: place, name, style, explode, required }: JsonRecord): OpenApiParameter | undefined {
  if (typeof name !== 'string') return undefined
  if (place === 'header' && IGNORED_HEADERS.has(name.toLowerCase())) return undefined
  if (place !== 'path' && place !== 'query' && place !== 'header') {
    if (required === true) throw new BrokenReference(`parameters in ${String(place)} are not supported`)
    return undefined
  }
  const used = typeof style === 'string' ? style : DEFAULT_STYLE[place]
  if (!STYLES[place].includes(used)) throw new BrokenReference(`the style ${used} of ${name} is not supported`)
  return {
    in: place,
    name,
    // One of the styles of the contract, by the check above.
    style: used as OpenApiParameter['style'],
    explode: typeof explode === 'boolean' ? explode : used === 'form',
  }
}

interface Body {
  readonly type: string
  readonly schema: JsonRecord
  readonly isRequired: boolean
}

/** undefined: it has no body, or only optional ones that are not JSON. @throws {BrokenReference} */
function bodyOf(root: JsonRecord, value: unknown, resolve: ResolveSchema): Body | undefined {
  if (value === undefined) return undefined
  const { content, required } = followed(root, value)
  const types = Object.entries(recordOf(content))
  const json = types.find(([type]) => JSON_TYPE.test(type))
  if (json !== undefined) {
    const schema = resolve(recordOf(json[1])['schema'] ?? {})
    return { type: json[0], schema, isRequired: required === true }
  }
  if (required === true) throw new BrokenReference('its body is not JSON')
  return undefined
}

function inputSchema(schemas: Inputs['schemas'], body: Body | undefined): JsonRecord {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const [place, group] of schemas) {
    properties[place] = { type: 'object', properties: group.properties, required: group.required }
    if (group.required.length > 0) required.push(place)
  }
  if (body !== undefined) {
    properties['body'] = body.schema
    if (body.isRequired) required.push('body')
  }
  return { type: 'object', properties, required }
}

/** The host comes from the configuration. Variables have their defaults, which the specification requires. */
function basePathOf({ servers }: JsonRecord): string {
  const [server] = Array.isArray(servers) ? (servers as readonly unknown[]) : []
  const { url, variables } = recordOf(server)
  if (typeof url !== 'string') return ''
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = recordOf(recordOf(variables)[name])['default']
    return typeof value === 'string' ? value : whole
  })
  return URL.parse(filled, 'http://localhost')?.pathname.replace(/\/+$/, '') ?? ''
}
