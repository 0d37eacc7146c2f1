// The header fields of requests to a server: the client's without those of its own connection and session.
import { changed, DerivedHeaders } from '../../message/derived-headers.ts'
import type { HeaderList } from '../../message/headers.ts'
import { claimedVersion } from '../envelope.ts'
import { EVENT_STREAM } from '../http-reply.ts'
import { isRequest, type JsonRpcMessage } from '../jsonrpc.ts'
import { removeRoutingHeaders, setRoutingHeaders } from '../routing-headers.ts'
import { LEGACY_VERSION, MODERN_VERSION } from '../versions.ts'
import type { TargetSession } from './target.ts'

const NOT_FORWARDED = [
  'content-encoding',
  'content-length',
  'accept-encoding',
  'mcp-session-id',
  'accept',
  'content-type',
  'last-event-id',
] as const
const VERSION_HEADER = 'mcp-protocol-version'

interface ServerRequest {
  readonly method: string
  /** It is for a document, not for the MCP endpoint. */
  readonly isDocument: boolean
  readonly session: TargetSession | undefined
  /** Id of the event after which a stream continues. */
  readonly last: string | undefined
  readonly message: JsonRpcMessage | undefined
}

/** Of one server. */
export class RequestHeaders {
  /** Clients repeat their fields: those of calls in a session are derived once. */
  readonly #ofCalls = new WeakMap<TargetSession, DerivedHeaders>()

  /** A list of its own. */
  of(client: HeaderList, request: ServerRequest): HeaderList {
    const { method, session, message } = request
    const change = (headers: HeaderList): void => forServer(headers, request)
    const version = message && claimedVersion(message)
    if (session === undefined || method !== 'POST' || typeof version === 'string') return changed(client, change)
    return this.#listsOf(session).of(client, change)
  }

  #listsOf(session: TargetSession): DerivedHeaders {
    const known = this.#ofCalls.get(session)
    if (known !== undefined) return known
    const lists = new DerivedHeaders()
    this.#ofCalls.set(session, lists)
    return lists
  }
}

function forServer(headers: HeaderList, { method, isDocument, session, last, message }: ServerRequest): void {
  for (const name of NOT_FORWARDED) headers.remove(name)
  headers.set('accept', isDocument ? 'application/json' : acceptOf(method))
  if (method === 'POST') headers.set('content-type', 'application/json')
  setVersionHeaders(headers, message)
  if (session?.serverSession !== undefined) headers.set('mcp-session-id', session.serverSession)
  if (last !== undefined) headers.set('last-event-id', last)
}

/** The version of this message, which may differ from that of the client. */
function setVersionHeaders(headers: HeaderList, message: JsonRpcMessage | undefined): void {
  const version = message === undefined ? undefined : claimedVersion(message)
  if (typeof version === 'string' && message !== undefined) {
    headers.set(VERSION_HEADER, version)
    if (isRequest(message)) setRoutingHeaders(headers, message)
    return
  }
  if (headers.get(VERSION_HEADER) === MODERN_VERSION) headers.set(VERSION_HEADER, LEGACY_VERSION)
  removeRoutingHeaders(headers)
}

function acceptOf(method: string): string {
  return method === 'GET' ? EVENT_STREAM : `application/json, ${EVENT_STREAM}`
}
