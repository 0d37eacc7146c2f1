// One server of a session that outlives the server: a session that the server lost is opened again for the client, and
// a stream that broke is opened again. Calls whose result is unknown are not repeated.
import { listChanged, LISTS } from '../subscription.ts'
import { recordOf } from '#api/json.ts'
import { reportIfBug } from '../../exchange/defects.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { madeStream } from '../../message/made-stream.ts'
import { modernServer } from '../bridge/modern-server.ts'
import type { Member } from '../fan-out.ts'
import { isResponse, type JsonRpcMessage } from '../jsonrpc.ts'
import { waited } from '../targets/events.ts'
import {
  type EventStream,
  type McpTarget,
  type ServerEvent,
  TargetError,
  TargetHttpError,
  type TargetReply,
  type TargetSession,
  UnreachableError,
} from '../targets/target.ts'
import { LiveSessions } from './live-sessions.ts'
import { ownCall } from './own-call.ts'
import type { Reopened } from './reopened.ts'
import { joinFor } from './session.ts'
import type { SessionClient } from './session-id.ts'

/** Before a stream is opened again; doubles with each failure. */
const LISTEN_MS = 100
const LISTEN_MS_MAX = 30_000
/** A stream that lasted longer has not failed. */
const LASTING_MS = 1000

const live = new LiveSessions()

export function isEnded(id: string): boolean {
  return live.isEnded(id)
}

/** For the workers of this process; other replicas ask the servers. */
export function noteEnded(id: string): void {
  live.end(id)
}

export interface HealedSession {
  /** Digest of the id of the session. */
  readonly id: string
  readonly client: SessionClient | undefined
  /** For each session with a server that was opened again. */
  readonly onReopened: (server: string) => void
}

export function healing({ id, client, onReopened }: HealedSession, { target, session }: Member): Member {
  if (session === undefined || session.isModern || client === undefined) return { target, session }
  const healed = new HealingTarget(target, { id, client, onReopened, sealed: session })
  return { target: healed, session: healed.current }
}

interface Healed extends HealedSession {
  readonly client: SessionClient
  /** As the id of the session has it. */
  readonly sealed: TargetSession
}

class HealingTarget implements McpTarget {
  readonly name: string
  readonly answerMs: number | undefined
  readonly #target: McpTarget
  readonly #of: Healed

  constructor(target: McpTarget, of: Healed) {
    this.name = target.name
    this.answerMs = target.answerMs
    this.#target = target
    this.#of = of
  }

  get current(): TargetSession {
    return live.current(this.#of.id, this.name)?.session ?? this.#of.sealed
  }

  send(
    exchange: Exchange,
    message: JsonRpcMessage,
    _session: TargetSession | undefined,
    deadlineMs?: number,
  ): Promise<TargetReply> {
    const attempt = (used: TargetSession): Promise<TargetReply> =>
      this.#at(used).send(exchange, message, used, deadlineMs)
    // The request that a response of the client is for is lost with the session.
    return isResponse(message) ? attempt(this.current) : this.#withSession(exchange, attempt)
  }

  async listen(exchange: Exchange, _session: TargetSession, last?: string): Promise<EventStream | undefined> {
    const { current: from } = this
    const first = from.isSkipped ? { events: NOTHING, session: from } : await this.#listenOnce(exchange, last)
    if (first === undefined) return undefined
    const over = new AbortController()
    let listened = first
    // Workers that opened two sessions at the same time use one of them: the stream has to be of this one.
    const follow = (): void => {
      const isLeft = listened.session.serverSession !== this.current.serverSession
      if (over.signal.aborted || isLeft) listened.events.cancel()
    }
    const opened = (next: Listened): void => {
      listened = next
      follow()
    }
    const unwatch = live.watch(this.#of.id, this.name, follow)
    const release = (): void => {
      unwatch()
      over.abort()
      listened.events.cancel()
    }
    follow()
    return madeStream(this.#listening(exchange, { first, from, last, opened, unwatch, signal: over.signal }), release)
  }

  /** The rest of a response is lost with its session. */
  async resume(
    exchange: Exchange,
    _session: TargetSession | undefined,
    last: string,
  ): Promise<EventStream | undefined> {
    return this.#at(this.current).resume?.(exchange, this.current, last)
  }

  end(exchange: Exchange): Promise<void> {
    const { id, sealed } = this.#of
    return live.endAll(id, this.name, sealed, (session) => this.#at(session).end(exchange, session))
  }

  #at({ isModern }: TargetSession): McpTarget {
    return isModern ? modernServer(this.#target) : this.#target
  }

  #withSession<T>(exchange: Exchange, attempt: (used: TargetSession) => Promise<T>): Promise<T> {
    const used = this.current
    if (used.isSkipped) return this.#reopen(exchange, used).then(({ session }) => attempt(session))
    return attempt(used).catch(async (error: unknown) => {
      if (!isLost(error, used)) throw error
      const reopened = await this.#reopen(exchange, used, error).catch((reason: unknown) => {
        reportIfBug('mcp session', reason)
        throw error
      })
      exchange.errorDetail ??= `${this.name}: the server lost its session, which was opened again`
      return attempt(reopened.session)
    })
  }

  /** Unless another request has done so. */
  async #reopen(exchange: Exchange, lost: TargetSession, reason?: unknown): Promise<Reopened> {
    const { id, client } = this.#of
    const known = live.current(id, this.name)
    if (known !== undefined && isOther(known.session, lost)) return known
    if (live.isEnded(id)) throw this.#overError()
    if (!live.isDue(id, this.name, performance.now())) {
      throw new TargetError(`${this.name}: the server was down a moment ago`)
    }
    const open = async (): Promise<Reopened> => {
      const own = lasting(exchange)
      const { session, answer } = await joinFor(own, this.#target, client)
      if (live.isEnded(id)) {
        if (session.serverSession !== undefined) await this.#target.end(own, session)
        throw this.#overError()
      }
      this.#of.onReopened(this.name)
      const capabilities = recordOf(answer.response.result?.['capabilities'])
      return { session, lists: LISTS.filter((list) => capabilities[list] !== undefined) }
    }
    const gone = isUnknownToServer(reason) ? lost.serverSession : undefined
    return live.reopen(id, this.name, { gone, open })
  }

  #overError(): TargetError {
    return new TargetError(`${this.name}: the client has ended the session`)
  }

  /** From now on if the server does not have the event `last`, for example in a session that was opened again. */
  async #listenOnce(exchange: Exchange, last: string | undefined): Promise<Listened | undefined> {
    const listen = (after?: string): Promise<Listened | undefined> =>
      this.#withSession(exchange, async (session) => {
        const events = await this.#at(session).listen(exchange, session, after)
        return events && { events, session }
      })
    if (last === undefined) return listen()
    return listen(last).catch((error: unknown) => {
      if (error instanceof TargetHttpError && error.status === 400) return listen()
      throw error
    })
  }

  async *#listening(exchange: Exchange, options: Listening): AsyncGenerator<ServerEvent> {
    try {
      yield* this.#untilOver(exchange, options)
    } finally {
      options.unwatch()
    }
  }

  async *#untilOver(exchange: Exchange, { first, opened, signal, ...start }: Listening): AsyncGenerator<ServerEvent> {
    let { from, last } = start
    let waitMs = LISTEN_MS
    for (let listened: Listened | undefined = first; listened !== undefined;) {
      const startMs = performance.now()
      for await (const event of untilBroken(listened.events)) {
        last = event.id ?? last
        yield event
      }
      if (performance.now() - startMs > LASTING_MS) waitMs = LISTEN_MS
      if (!(await waited(waitMs, signal)) || live.isEnded(this.#of.id)) return
      waitMs = Math.min(waitMs * 2, LISTEN_MS_MAX)
      try {
        listened = await this.#listenOnce(exchange, last)
      } catch (error) {
        reportIfBug('mcp stream', error)
        listened = { events: NOTHING, session: this.current }
        continue
      }
      if (listened !== undefined) opened(listened)
      const reopened = live.current(this.#of.id, this.name)
      if (reopened === undefined || !isOther(reopened.session, from)) continue
      from = reopened.session
      last = undefined
      for (const list of reopened.lists) yield { message: listChanged(list) }
    }
  }
}

/** Other requests of the session wait for the same opening: it does not end with the client of the first one. */
function lasting(exchange: Exchange): Exchange {
  const own = ownCall(exchange, { method: 'POST', session: undefined, signal: new AbortController().signal })
  own.deadlineMs = undefined
  own.trace = exchange.trace
  return own
}

interface Listened {
  readonly events: EventStream
  /** In which it was opened. */
  readonly session: TargetSession
}

interface Listening {
  readonly first: Listened
  /** In use before the stream was opened. */
  readonly from: TargetSession
  readonly last: string | undefined
  readonly opened: (next: Listened) => void
  readonly unwatch: () => void
  readonly signal: AbortSignal
}

/** A stream without messages. */
const NOTHING: EventStream = {
  async *[Symbol.asyncIterator]() {},
  cancel() {},
}

/** Ends also if the stream fails. */
async function* untilBroken(stream: EventStream): AsyncGenerator<ServerEvent> {
  try {
    for await (const event of stream) yield event
  } catch (error) {
    reportIfBug('mcp stream', error)
  }
}

/** Servers without ids of sessions join once. */
function isOther(a: TargetSession, b: TargetSession): boolean {
  return a.serverSession !== b.serverSession || a.isSkipped !== b.isSkipped
}

function isLost(error: unknown, { serverSession }: TargetSession): boolean {
  if (serverSession === undefined) return false
  return error instanceof UnreachableError || isUnknownToServer(error)
}

function isUnknownToServer(error: unknown): boolean {
  return error instanceof TargetHttpError && error.status === 404
}
