// The envelope of requests of MCP 2026-07-28: version, client and its capabilities in `params._meta`.
import { isRecord, type JsonRecord } from '#api/json.ts'
import { VERSION } from '#api/version.ts'
import type { JsonRpcMessage, JsonRpcRequest } from './jsonrpc.ts'
import { MODERN_VERSION } from './versions.ts'

const PREFIX = 'io.modelcontextprotocol/'
export const VERSION_KEY = `${PREFIX}protocolVersion`
export const CLIENT_KEY = `${PREFIX}clientInfo`
export const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`
const LOG_LEVEL_KEY = `${PREFIX}logLevel`
export const SERVER_KEY = `${PREFIX}serverInfo`
export const SUBSCRIPTION_KEY = `${PREFIX}subscriptionId`
const ENVELOPE: ReadonlySet<string> = new Set([VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY, LOG_LEVEL_KEY])
/** How the gateway names itself, to servers and to clients of several servers. */
export const GATEWAY = { name: 'gw', version: VERSION } as const

/** undefined: a message without params, or whose `_meta` is not an object. */
export function metaOf(message: JsonRpcMessage): JsonRecord | undefined {
  const meta = 'method' in message ? message.params?.['_meta'] : undefined
  return isRecord(meta) ? meta : undefined
}

/** The version that a message claims in its envelope, of any type; undefined: it has none. */
export function claimedVersion(message: JsonRpcMessage): unknown {
  return metaOf(message)?.[VERSION_KEY]
}

/** The first part of an envelope that is missing or of a wrong type; undefined: it is valid. */
export function envelopeProblem(meta: JsonRecord): string | undefined {
  if (typeof meta[VERSION_KEY] !== 'string') return `${VERSION_KEY} must be a string`
  if (!isRecord(meta[CAPABILITIES_KEY])) return `${CAPABILITIES_KEY} must be an object`
  const client = meta[CLIENT_KEY]
  return client === undefined || isRecord(client) ? undefined : `${CLIENT_KEY} must be an object`
}

/** A request of the gateway itself, or of a client that has no envelope. No capabilities: servers ask for no input. */
export function withEnvelope(request: JsonRpcRequest): JsonRpcRequest {
  const _meta = { ...metaOf(request), [VERSION_KEY]: MODERN_VERSION, [CLIENT_KEY]: GATEWAY, [CAPABILITIES_KEY]: {} }
  return { ...request, params: { ...request.params, _meta } }
}

/** For servers of former versions. */
export function withoutEnvelope<T extends JsonRpcMessage>(message: T): T {
  const meta = metaOf(message)
  if (meta === undefined || !('params' in message)) return message
  const rest = Object.fromEntries(Object.entries(meta).filter(([key]) => !ENVELOPE.has(key)))
  const { _meta: _, ...params } = message.params ?? {}
  return { ...message, params: Object.keys(rest).length === 0 ? params : { ...params, _meta: rest } }
}
