// The documents of the gateway itself about an MCP server that requires tokens. Pure.
import type { McpOauth } from '#api/ir/types.gen.ts'
import { RESOURCE_METADATA } from './place.ts'

const PROTOCOL_VERSION = '2025-06-18'

export interface ResourceInput {
  /** URL of the MCP server, as seen by the client. */
  readonly resource: string
  /** Empty: the configuration names no issuer. */
  readonly authorizationServer: string
  readonly extra: McpOauth['resourceMetadata']
}

/** RFC 9728. Fields of the configuration have precedence. */
export function resourceMetadata({ resource, authorizationServer, extra = {} }: ResourceInput): object {
  const fields = Object.entries(extra).map(([name, value]) => [snakeCase(name), value] as const)
  return {
    resource,
    ...(authorizationServer === '' ? {} : { authorization_servers: [authorizationServer] }),
    mcp_protocol_version: PROTOCOL_VERSION,
    resource_type: 'mcp-server',
    ...Object.fromEntries(fields),
  }
}

/** Origin of `resourceMetadata.resource`; undefined: the configuration does not name one. */
export function configuredOrigin(extra: McpOauth['resourceMetadata']): string | undefined {
  const resource = extra?.['resource']
  const url = typeof resource === 'string' ? URL.parse(resource) : null
  return url === null || url.origin === 'null' ? undefined : url.origin
}

/** Value of WWW-Authenticate (RFC 9728 section 5.1). */
export function challenge(base: string, path: string, error: string | undefined): string {
  const url = `${base}${RESOURCE_METADATA}${path === '/' ? '' : path}`
  const reason = error === undefined ? '' : `error="${error}", `
  return `Bearer ${reason}resource_metadata="${url.replace(UNQUOTABLE, encodeURIComponent)}"`
}

/** The result of a registration with `clientId` (RFC 7591): every client gets the same one. */
export function mockedRegistration(clientId: string, body: unknown): object {
  return {
    client_id: clientId,
    client_id_issued_at: 0,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: redirectUris(body),
  }
}

const UNQUOTABLE = /["\\]/g

function redirectUris(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null || !('redirect_uris' in body)) return []
  return Array.isArray(body.redirect_uris) ? body.redirect_uris : []
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
