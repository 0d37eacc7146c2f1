// The era that a server of a backend speaks, as found out with `server/discover`. Remembered for a while in each
// worker; never an authority: a server that rejects what was remembered is asked again.
import { recordOf } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { withEnvelope } from '../envelope.ts'
import { ask } from '../fan-out.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type JsonRpcRequest, type JsonRpcResponse } from '../jsonrpc.ts'
import { rpcErrorIn } from '../targets/rpc-error.ts'
import { type McpTarget, TargetHttpError, VersionRejected } from '../targets/target.ts'
import {
  type Era,
  HEADER_MISMATCH,
  LEGACY_VERSIONS,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION,
} from '../versions.ts'

/** Servers are updated rarely, and a server that leaves an era rejects its requests. */
const ERA_MS = 5 * 60_000
/** Not about the version: authentication, load, and failures. */
const NOT_ERA = new Set([401, 403, 407, 408, 429])

/** Methods, params, headers and capabilities of a request. */
const REQUEST_ERRORS: ReadonlySet<number> = new Set([
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  HEADER_MISMATCH,
  MISSING_CAPABILITY,
])

export interface Eras {
  get(target: string): Era | undefined
  set(target: string, era: Era): void
}

/** Bounded by the targets of the backend. `now`: milliseconds. */
export function rememberedEras(now: () => number = () => performance.now()): Eras {
  const known = new Map<string, { readonly era: Era; readonly untilMs: number }>()
  return {
    get(target) {
      const entry = known.get(target)
      return entry !== undefined && now() < entry.untilMs ? entry.era : undefined
    },
    set: (target, era) => void known.set(target, { era, untilMs: now() + ERA_MS }),
  }
}

/**
 * Asks the server.
 * @throws {VersionRejected} It has neither a legacy version nor ours.
 * @throws {TargetError | TargetHttpError} It failed, or it rejects the client.
 */
export async function discoverEra(exchange: Exchange, target: McpTarget): Promise<Era> {
  const request = withEnvelope({ jsonrpc: '2.0', id: 'gw-discover', method: 'server/discover' })
  return eraIn(target.name, await discovered(exchange, target, request))
}

/** @throws {VersionRejected} */
export function eraIn(name: string, { result, error }: Discovered): Era {
  if (result === undefined && error?.code !== UNSUPPORTED_VERSION) return 'Legacy'
  const versions = textsIn(result?.['supportedVersions'] ?? recordOf(error?.data)['supported'])
  if (result !== undefined && versions.includes(MODERN_VERSION)) return 'Modern'
  if (versions.length === 0 || versions.some((version) => LEGACY_VERSIONS.includes(version))) return 'Legacy'
  throw new VersionRejected(name, versions)
}

export type Discovered = Pick<JsonRpcResponse, 'result' | 'error'>

/** The answer of a server to `server/discover`; an error that it sent with an HTTP status counts as an answer. */
export async function discovered(exchange: Exchange, target: McpTarget, request: JsonRpcRequest): Promise<Discovered> {
  try {
    return (await ask(exchange, { target, session: undefined }, request)).response
  } catch (error) {
    if (!isHttpAnswer(error)) throw error
    return { error: rpcErrorIn(error) ?? { code: 0, message: error.message } }
  }
}

/** Whether a server that had 2026-07-28 may have lost it: it rejects a request for another reason than its content. */
export function isEraRejection(error: unknown): boolean {
  if (!isHttpAnswer(error)) return false
  const code = rpcErrorIn(error)?.code
  return code === undefined || !REQUEST_ERRORS.has(code)
}

/** An HTTP error that can depend on the era. */
function isHttpAnswer(error: unknown): error is TargetHttpError {
  return error instanceof TargetHttpError && error.status < 500 && !NOT_ERA.has(error.status)
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}
