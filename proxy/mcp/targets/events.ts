// Events of the stream of a server: messages, and where the stream can be resumed.
import { setTimeout as delay } from 'node:timers/promises'
import type { Exchange } from '../../exchange/exchange.ts'
import { BodyAborted } from '../../message/body.ts'
import { madeStream } from '../../message/made-stream.ts'
import type { JsonRpcMessage } from '../jsonrpc.ts'
import type { EventStream, McpTarget, MessageStream, ServerEvent, TargetSession } from './target.ts'

/** If the server names no time. */
const RETRY_MS = 1000
const RETRY_MS_MAX = 30_000
/** A response is given up after this time without an event. */
const SILENT_MS_MAX = 5 * 60_000

/** Without ids: the stream cannot be resumed. */
export function eventsOf(messages: MessageStream): EventStream {
  return madeStream(asEvents(messages), () => messages.cancel())
}

async function* asEvents(messages: MessageStream): AsyncGenerator<ServerEvent> {
  for await (const message of messages) yield { message }
}

export function messagesOf(events: EventStream): MessageStream {
  return madeStream(messagesIn(events), () => events.cancel())
}

async function* messagesIn(events: EventStream): AsyncGenerator<JsonRpcMessage> {
  for await (const { message } of events) if (message !== undefined) yield message
}

export interface Resumable {
  readonly target: McpTarget
  readonly session: TargetSession | undefined
  readonly events: EventStream
}

/**
 * The events of a response, also those after a server has closed its stream to be asked again (SEP-1699), or lost its
 * connection. For readers that cannot resume it themselves; they stop at the response.
 */
export function resumed(exchange: Exchange, from: Resumable): EventStream {
  const over = new AbortController()
  let current = from.events
  const release = (): void => {
    over.abort()
    current.cancel()
  }
  return madeStream(parts(), release)

  async function* parts(): AsyncGenerator<ServerEvent> {
    const { target, session } = from
    let last: string | undefined
    let waitMs = RETRY_MS
    let heardMs = performance.now()
    while (performance.now() - heardMs < SILENT_MS_MAX) {
      for await (const event of untilLost(current, () => last !== undefined)) {
        heardMs = performance.now()
        last = event.id ?? last
        waitMs = Math.min(event.retryMs ?? waitMs, RETRY_MS_MAX)
        yield event
      }
      if (last === undefined || !(await waited(waitMs, over.signal))) return
      const next = await target.resume?.(exchange, session, last)
      if (next === undefined) return
      current = next
      if (over.signal.aborted) next.cancel()
    }
  }
}

/** Ends also when the connection is lost, if the stream can be resumed. */
export async function* untilLost(events: EventStream, canResume: () => boolean): AsyncGenerator<ServerEvent> {
  try {
    for await (const event of events) yield event
  } catch (error) {
    if (!canResume() || !(error instanceof BodyAborted)) throw error
  }
}

/** False: aborted. */
export async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal })
    return true
  } catch {
    // Aborted.
    return false
  }
}
