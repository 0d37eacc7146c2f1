// Which of the OAuth addresses of an MCP server a request is for, and how the client sees the gateway. Pure.
import type { HttpRequest } from '../../../message/message.ts'

export type PlaceKind = 'resource' | 'server' | keyof typeof ENDS

export interface OauthPlace {
  readonly kind: PlaceKind
  /** Path of the MCP server; empty or beginning with a slash. */
  readonly path: string
}

export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'
export const SERVER_METADATA = '/.well-known/oauth-authorization-server'
/** Ends of paths below SERVER_METADATA. */
export const ENDS = {
  registration: '/client-registration',
  authorize: '/authorize',
  callback: '/callback',
  token: '/token',
} as const
const ENDPOINTS = ['registration', 'authorize', 'callback', 'token'] as const satisfies readonly (keyof typeof ENDS)[]

/** undefined: an ordinary request. */
export function placeOf(path: string): OauthPlace | undefined {
  const resource = below(path, RESOURCE_METADATA)
  if (resource !== undefined) return { kind: 'resource', path: resource }
  const server = below(path, SERVER_METADATA)
  if (server === undefined) return undefined
  for (const kind of ENDPOINTS) {
    if (server.endsWith(ENDS[kind])) return { kind, path: cut(server, ENDS[kind]) }
  }
  return { kind: 'server', path: server }
}

/** Scheme and host as the client wrote them. */
export function baseOf({ headers, scheme, host }: HttpRequest): string {
  const forwarded = headers.get('x-forwarded-proto')
  return `${forwarded === 'https' || forwarded === 'http' ? forwarded : scheme}://${host}`
}

/** What follows the prefix; only whole segments count. */
function below(path: string, prefix: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined
  const rest = path.slice(prefix.length)
  if (rest === '/') return ''
  return rest === '' || rest.startsWith('/') ? rest : undefined
}

function cut(path: string, end: string): string {
  return path.slice(0, path.length - end.length)
}
