// Ids of events for clients: each seals where the servers are in their streams, so that any replica can continue after
// that event (MCP 2025-11-25, section Resumability and Redelivery).
import { isRecord, type JsonRecord } from '#api/json.ts'
import { jsonSealer, type JsonSealer } from '../../auth/json-sealer.ts'
import type { JsonRpcId, JsonRpcRequest } from '../jsonrpc.ts'

/** The stream of a request, at the event `event` of the server. */
export interface CallPosition {
  readonly target: string
  readonly event: string
  /** What is needed to relay the rest: id, method and progress token. */
  readonly request: JsonRpcRequest
}

/** Last events of servers by target. */
export type StreamPositions = ReadonlyMap<string, string>

/** Of one session. Ids are undefined if the events of servers have ids that are too long: then none can be resumed. */
export interface EventIds {
  ofCall(position: CallPosition): string | undefined
  ofStreams(positions: StreamPositions): string | undefined
  /** undefined: not an id of this session. */
  read(id: string): CallPosition | StreamPositions | undefined
}

/** First byte; session ids and others have other ones. */
const KIND = 5
/** Clients send the id of the last event in a header field. */
const ID_CHARACTERS_MAX = 8192

export function eventIdSealer(keys: readonly Uint8Array[]): JsonSealer {
  return jsonSealer({ kind: KIND, keys, charactersMax: ID_CHARACTERS_MAX })
}

/** `session`: digest of its id. */
export function eventIdsOf(sealer: JsonSealer, session: string): EventIds {
  return new SealedEventIds(sealer, session)
}

class SealedEventIds implements EventIds {
  readonly #sealer: JsonSealer
  readonly #session: string

  constructor(sealer: JsonSealer, session: string) {
    this.#sealer = sealer
    this.#session = session
  }

  ofCall({ target, event, request: { id, method, params } }: CallPosition): string | undefined {
    const { _meta: meta } = params ?? {}
    const token = isRecord(meta) ? meta['progressToken'] : undefined
    return this.#sealed({ t: target, e: event, r: id, m: method, p: token })
  }

  ofStreams(positions: StreamPositions): string | undefined {
    return this.#sealed({ v: Object.fromEntries(positions) })
  }

  read(id: string): CallPosition | StreamPositions | undefined {
    const record = this.#sealer.open(id)
    if (record === undefined || record === 'UnknownKey' || record['s'] !== this.#session) return undefined
    return isRecord(record['v']) ? positionsIn(record['v']) : callIn(record)
  }

  #sealed(record: JsonRecord): string | undefined {
    const id = this.#sealer.seal({ s: this.#session, ...record })
    return id.length > ID_CHARACTERS_MAX ? undefined : id
  }
}

function positionsIn(record: JsonRecord): StreamPositions {
  return new Map(Object.entries(record).flatMap(([name, event]) => (typeof event === 'string' ? [[name, event]] : [])))
}

function callIn({ t: target, e: event, r: id, m: method, p: progressToken }: JsonRecord): CallPosition | undefined {
  if (typeof target !== 'string' || typeof event !== 'string' || typeof method !== 'string') return undefined
  const params = progressToken === undefined ? {} : { params: { _meta: { progressToken } } }
  // Sealed by this proxy from the id of a request.
  return { target, event, request: { jsonrpc: '2.0', id: id as JsonRpcId, method, ...params } }
}
