// The question which tools an identity may call, for the admin server, and its answer.
import type { components } from '#api/admin/types.gen.ts'
import { fieldsOf, textOf } from '#cli/proxy/backends.ts'
import { givenName, givenReference } from '#cli/proxy/given-names.ts'
import { routeRows } from '#cli/proxy/rows.ts'
import { type Dump, ApiError, ask } from './api.ts'
import { listOf } from './backend-parts.ts'
import type { McpItem } from './mcp-session.ts'
import { serverOf } from './parts/mcp-items.tsx'

type Schemas = components['schemas']
type Question = Schemas['McpAccessQuestion']
export type McpAccess = Schemas['McpAccess']

/** A backend with MCP servers. */
export interface McpBackend {
  /** As users wrote it, with the namespace. */
  readonly label: string
  readonly backend: Question['backend']
  readonly servers: readonly string[]
  /** Keys of the rules that lead to it. */
  readonly routes: readonly string[]
  /** Of OpenAPI documents, as lines of the form. */
  readonly tools: readonly string[]
}

export function mcpBackends(dump: Dump): McpBackend[] {
  return dump.backends.flatMap(({ backend }) => {
    if (backend['mcp'] === undefined) return []
    const { name, namespace, section, target } = fieldsOf(backend['mcp'])
    const given = givenName(textOf(name), textOf(section))
    const servers = listOf(fieldsOf(target)['targets']).map(fieldsOf)
    const labels = new Set([given, `${textOf(namespace)}/${given}`])
    return [
      {
        label: `${textOf(namespace)}/${given}`,
        backend: { namespace: textOf(namespace), name: textOf(name) },
        servers: servers.map((server) => textOf(server['name'])),
        routes: routeRows(dump).flatMap((route) => (leadsTo(route, labels) ? [route.key] : [])),
        tools: servers.flatMap(({ name: server, openapi }) =>
          listOf(fieldsOf(openapi)['operations']).map((one) => `${textOf(server)}/${textOf(fieldsOf(one)['name'])}`),
        ),
      },
    ]
  })
}

function leadsTo(route: object, labels: ReadonlySet<string>): boolean {
  return listOf(fieldsOf(route)['backends']).some((one) => {
    const key = fieldsOf(one)['backend']
    return typeof key === 'string' && labels.has(givenReference(key))
  })
}

/** Tools that a client was shown, as lines of the form; those of other backends are left out. */
export function linesOf(items: readonly McpItem[], { servers }: McpBackend): string[] {
  return items.flatMap(({ kind, name }) => {
    const server = serverOf(name, servers)
    if (kind !== 'tool' || server === '') return []
    return [`${server}/${servers.length > 1 ? name.slice(server.length + 1) : name}`]
  })
}

export interface AccessForm {
  readonly backend: McpBackend
  /** Empty: the first rule. */
  readonly route: string
  /** JSON. */
  readonly variables: string
  /** One `server/tool` a line; without a server that of the only one. */
  readonly tools: string
}

/** @throws {ApiError} A part of the form is not valid. */
export async function askMcpAccess(form: AccessForm, signal: AbortSignal): Promise<McpAccess> {
  const { backend, route, variables, tools } = form
  const lines = new Set(tools.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()])))
  const body: Question = {
    backend: backend.backend,
    ...(route !== '' && { route }),
    variables: recordIn(variables),
    tools: [...lines].map((line) => toolIn(line, backend.servers)),
  }
  return (await (await ask('debug/mcp_access', { signal, body })).json()) as McpAccess // api/admin/openapi.yaml
}

function recordIn(text: string): Question['variables'] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    throw new ApiError(`identity: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Names of tools may contain a slash, those of servers may not. */
function toolIn(line: string, servers: readonly string[]): Question['tools'][number] {
  const at = line.indexOf('/')
  const server = line.slice(0, Math.max(0, at))
  if (servers.includes(server)) return { server, name: line.slice(at + 1) }
  if (servers.length === 1) return { server: servers[0] ?? '', name: line }
  throw new ApiError(`tools: "${line}" must begin with one of ${servers.map((one) => `${one}/`).join(', ')}`)
}
