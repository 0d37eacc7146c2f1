// Servers for one request of a client without a session. A server of MCP 2026-07-28 gets the request as it is; another
// one gets a session for as long as the response lasts, if and when the request is sent to it.
import { recordOf, type JsonRecord } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { McpEndpoint } from '../context.ts'
import { claimedVersion, SERVER_KEY, withoutEnvelope } from '../envelope.ts'
import type { Member } from '../fan-out.ts'
import { isRequest, isResponse, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse } from '../jsonrpc.ts'
import { single } from '../http-reply.ts'
import { openOwn, openTemporary } from '../legacy/session.ts'
import { LISTEN } from '../subscription.ts'
import { type EventStream, replyOf, type McpTarget, type TargetReply, type TargetSession } from '../targets/target.ts'
import { type Era, MODERN_VERSION } from '../versions.ts'
import { discovered, discoverEra, eraIn, isEraRejection } from './era.ts'
import { isRejection, modernServer } from './modern-server.ts'
import { askedRequest, SessionRequests } from './session-requests.ts'
import { sessionEvents } from './session-events.ts'

export interface OnDemand {
  readonly members: readonly Member[]
  /** Ends the sessions that the request opened. */
  readonly end: () => Promise<void>
}

export function onDemand(exchange: Exchange, endpoint: McpEndpoint, clientEra: Era): OnDemand {
  const servers = endpoint.targets.map((target) => new OnDemandTarget(target, endpoint, clientEra))
  return {
    members: servers.map((target) => ({ target, session: undefined })),
    end: async () => void (await Promise.all(servers.map((server) => server.close(exchange)))),
  }
}

class OnDemandTarget implements McpTarget {
  readonly name: string
  readonly answerMs: number | undefined
  readonly #target: McpTarget
  readonly #endpoint: McpEndpoint
  readonly #clientEra: Era
  #session: Promise<TargetSession> | undefined
  #requests: SessionRequests | undefined

  constructor(target: McpTarget, endpoint: McpEndpoint, clientEra: Era) {
    this.name = target.name
    this.answerMs = target.answerMs
    this.#target = target
    this.#endpoint = endpoint
    this.#clientEra = clientEra
  }

  async send(
    exchange: Exchange,
    message: JsonRpcMessage,
    _session: TargetSession | undefined,
    deadlineMs?: number,
  ): Promise<TargetReply> {
    if (isRequest(message) && message.method === 'server/discover') return this.#discover(exchange, message)
    if ((await this.#era(exchange)) === 'Modern') {
      try {
        return await this.#sendModern(exchange, message, deadlineMs)
      } catch (error) {
        if (!isEraRejection(error) || !(await this.#hasLeft(exchange, 'Modern'))) throw error
      }
    }
    return this.#sendLegacy(exchange, message, deadlineMs)
  }

  async #sendLegacy(exchange: Exchange, message: JsonRpcMessage, deadlineMs: number | undefined): Promise<TargetReply> {
    if (isRequest(message) && message.method === LISTEN) return this.#listen(exchange, message)
    this.#session ??= openTemporary(exchange, this.#target)
    try {
      await this.#session
    } catch (error) {
      if (!isRejection(error) || !(await this.#hasLeft(exchange, 'Legacy'))) throw error
      return this.#sendModern(exchange, message, deadlineMs)
    }
    const session = await this.#session
    if (this.#clientEra === 'Modern') return this.#target.send(exchange, withoutEnvelope(message), session, deadlineMs)
    const own = isResponse(message) ? this.#responseForServer(exchange, message) : withoutEnvelope(message)
    return this.#requestsOf(exchange, session).reply(await this.#target.send(exchange, own, session, deadlineMs))
  }

  #requestsOf(exchange: Exchange, session: TargetSession): SessionRequests {
    return (this.#requests ??= new SessionRequests(this.#endpoint.requestIds, exchange, session))
  }

  /** Of the gateway itself, to a request that the client does not get. */
  #responseForServer(exchange: Exchange, response: JsonRpcResponse): JsonRpcResponse {
    const asked = askedRequest(this.#endpoint.requestIds, exchange, response.id)
    return asked === undefined ? response : { ...response, id: asked.id }
  }

  #sendModern(exchange: Exchange, message: JsonRpcMessage, deadlineMs: number | undefined): Promise<TargetReply> {
    const isForwarded = this.#clientEra === 'Modern' && (!isRequest(message) || claimedVersion(message) !== undefined)
    const server = isForwarded ? this.#target : modernServer(this.#target)
    return server.send(exchange, message, undefined, deadlineMs)
  }

  /** Asks again: the server rejected what was remembered. */
  async #hasLeft(exchange: Exchange, era: Era): Promise<boolean> {
    const found = await discoverEra(exchange, this.#target)
    this.#endpoint.eras.set(this.name, found)
    return found !== era
  }

  async #listen(exchange: Exchange, request: JsonRpcRequest): Promise<TargetReply> {
    const { session, answer } = await openOwn(exchange, this.#target)
    this.#session = Promise.resolve(session)
    const member = { target: this.#target, session }
    return replyOf(await sessionEvents(exchange, { member, answer }, request))
  }

  /** The client has no stream of its own. */
  listen(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  /** The client has no session in which it could do so. */
  async resume(exchange: Exchange, _session: undefined, last: string): Promise<EventStream | undefined> {
    const session = await this.#session
    const events = session && (await this.#target.resume?.(exchange, session, last))
    return session && events && this.#requestsOf(exchange, session).events(events)
  }

  /** Sessions end with the request. */
  end(): Promise<void> {
    return Promise.resolve()
  }

  async close(exchange: Exchange): Promise<void> {
    const session = await this.#session?.catch(() => undefined)
    if (session?.serverSession !== undefined) await this.#target.end(exchange, session)
  }

  /** The answer of the client's own request also shows the era. */
  async #discover(exchange: Exchange, request: JsonRpcRequest): Promise<TargetReply> {
    const { eras } = this.#endpoint
    if (eras.get(this.name) !== 'Legacy') {
      const answer = await discovered(exchange, this.#target, request)
      const era = eraIn(this.name, answer)
      eras.set(this.name, era)
      const { result } = answer
      if (era === 'Modern' && result !== undefined) return replyOf(single({ jsonrpc: '2.0', id: request.id, result }))
    }
    const { session, answer } = await openOwn(exchange, this.#target)
    this.#session = Promise.resolve(session)
    return replyOf(single({ jsonrpc: '2.0', id: request.id, result: discoverResult(answer.response.result ?? {}) }))
  }

  async #era(exchange: Exchange): Promise<Era> {
    const { eras } = this.#endpoint
    const known = eras.get(this.name)
    if (known !== undefined) return known
    const found =
      this.#clientEra === 'Modern' ? await discoverEra(exchange, this.#target) : await this.#legacyFirst(exchange)
    eras.set(this.name, found)
    return found
  }

  /** Most servers of clients with sessions have sessions too: the request that opens one is also the question. */
  async #legacyFirst(exchange: Exchange): Promise<Era> {
    const opening = openTemporary(exchange, this.#target)
    try {
      await opening
    } catch (error) {
      if (!isRejection(error)) throw error
      const era = await discoverEra(exchange, this.#target)
      if (era === 'Modern') return era
      throw error
    }
    this.#session = opening
    return 'Legacy'
  }
}

/** The answer to `initialize` as one to `server/discover`. Tasks of former versions are not part of the new one. */
function discoverResult(initialized: JsonRecord): JsonRecord {
  const { capabilities, instructions, serverInfo } = initialized
  const { tasks: _, ...others } = recordOf(capabilities)
  return {
    supportedVersions: [MODERN_VERSION],
    capabilities: others,
    ...(instructions !== undefined && { instructions }),
    _meta: { [SERVER_KEY]: serverInfo },
  }
}
