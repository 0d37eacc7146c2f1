// The guards of requests on the events that a client of the Realtime API sends. An event whose texts cannot be checked
// is never passed on: audio, and events that are unknown.
import { FAILURES } from '../../exchange/errors.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { editedText, type JsonText, readJsonText } from '../json-text.ts'
import { asString, type JsonObject } from '../json.ts'
import { type ChainedGuard, runGuards } from './chain.ts'
import { Conversation } from './conversation.ts'
import { folded, REALTIME_TEXTS } from './text-fields.ts'

/** Whether the events have texts; their names are in the reference of the vendor (client events). */
const EVENTS: ReadonlyMap<unknown, 'texts' | 'none'> = new Map([
  ['session.update', 'texts'],
  ['transcription_session.update', 'texts'],
  ['conversation.item.create', 'texts'],
  ['response.create', 'texts'],
  ['conversation.item.delete', 'none'],
  ['conversation.item.retrieve', 'none'],
  ['conversation.item.truncate', 'none'],
  ['input_audio_buffer.clear', 'none'],
  ['input_audio_buffer.commit', 'none'],
  ['output_audio_buffer.clear', 'none'],
  ['response.cancel', 'none'],
])

const REJECTED = 'guardrail_intervention'
const UNCHECKED = 'guardrail_unsupported'
/** Events of the gateway are numbered: official SDKs require an id. */
const ID_PREFIX = 'event_gw_'

export type CheckedEvent =
  /** `text`: the event to send; with the masks of guards, or unchanged. */
  | { readonly kind: 'passed'; readonly text: string }
  /** `error`: the event that the client gets instead. */
  | { readonly kind: 'rejected'; readonly error: string }

export class RealtimeGuard {
  readonly #exchange: Exchange
  readonly #guards: readonly ChainedGuard[]
  #errors = 0

  constructor(exchange: Exchange, guards: readonly ChainedGuard[]) {
    this.#exchange = exchange
    this.#guards = guards
  }

  /** `text`: one message of the client. */
  async check(text: string): Promise<CheckedEvent> {
    const json = readJsonText(text)
    if (json === undefined) return this.#unchecked(undefined, 'the message is not a JSON object')
    const { members } = json
    const kind = EVENTS.get(members['type'])
    if (kind === undefined) return this.#unchecked(members, 'guards cannot check events of this type')
    if (hasAudio(members)) return this.#unchecked(members, 'guards cannot check audio: send text')
    if (kind === 'none') return { kind: 'passed', text: editedText(json) }
    return this.#checked(json)
  }

  async #checked(json: JsonText): Promise<CheckedEvent> {
    const { members } = json
    const exchange = this.#exchange
    const conversation = Conversation.ofRequest(members, REALTIME_TEXTS)
    // Expressions of webhooks read the event.
    exchange.llmRequest = members
    const { spans } = conversation
    const result = await runGuards(this.#guards, { phase: 'Request', spans, exchange, upstreamHeaders: undefined })
    exchange.llmRequest = undefined
    if (result.kind === 'passed') {
      return { kind: 'passed', text: editedText({ ...json, members: conversation.write(result.texts, members) }) }
    }
    const message = result.kind === 'failed' ? FAILURES.promptGuardFailed.text : result.rejection.body
    return this.#rejected(members, { code: REJECTED, message, detail: result.detail })
  }

  #unchecked(event: JsonObject | undefined, message: string): CheckedEvent {
    return this.#rejected(event, { code: UNCHECKED, message, detail: message })
  }

  /** The session continues: the client decides what it does without this event. */
  #rejected(
    event: JsonObject | undefined,
    { code, message, detail }: { readonly code: string; readonly message: string; readonly detail: string },
  ): CheckedEvent {
    this.#exchange.reason = 'Guardrail'
    this.#exchange.errorDetail ??= detail
    const cause = asString(event?.['event_id']) ?? null
    const error = { type: 'invalid_request_error', code, message, param: null, event_id: cause }
    const id = ID_PREFIX + String(++this.#errors)
    return { kind: 'rejected', error: JSON.stringify({ type: 'error', event_id: id, error }) }
  }
}

const AUDIO = 'audio'

/** Encoded audio anywhere inside; settings of audio are objects. Depth and size are bounded by the parser. */
function hasAudio(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasAudio)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, member]) => (folded(name) === AUDIO && typeof member === 'string') || hasAudio(member),
  )
}
