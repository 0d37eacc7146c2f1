// The guards of requests on the events that a client of the Realtime API sends. An event whose texts cannot be checked
// is never passed on: audio, and events that are unknown.
import type { Exchange } from '../../exchange/exchange.ts'
import type { CheckedEvent, SocketCheck } from '../checked-socket.ts'
import { editedText, type JsonText, readJsonText } from '../json-text.ts'
import { asString, type JsonObject } from '../json.ts'
import { type ChainedGuard, runGuards } from './chain.ts'
import { Conversation } from './conversation.ts'
import type { RealtimeErrors } from '../realtime-errors.ts'
import { soundIn } from './realtime-sound.ts'
import { REALTIME_TEXTS } from './text-fields.ts'

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

export class RealtimeGuard implements SocketCheck {
  readonly #exchange: Exchange
  readonly #guards: readonly ChainedGuard[]
  readonly #errors: RealtimeErrors

  constructor(exchange: Exchange, guards: readonly ChainedGuard[], errors: RealtimeErrors) {
    this.#exchange = exchange
    this.#guards = guards
    this.#errors = errors
  }

  async check(text: string): Promise<CheckedEvent> {
    const json = readJsonText(text)
    if (json === undefined) return this.#unchecked(undefined, 'the message is not a JSON object')
    const { members } = json
    const kind = EVENTS.get(members['type'])
    if (kind === undefined) return this.#unchecked(members, 'guards cannot check events of this type')
    if (soundIn(members).length > 0) return this.#unchecked(members, 'guards cannot check audio: send text')
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
    if (result.kind !== 'passed') {
      return { kind: 'rejected', error: this.#errors.blocked(result, asString(members['event_id'])) }
    }
    return { kind: 'passed', text: editedText({ ...json, members: conversation.write(result.texts, members) }) }
  }

  #unchecked(event: JsonObject | undefined, message: string): CheckedEvent {
    return { kind: 'rejected', error: this.#errors.unchecked(message, asString(event?.['event_id'])) }
  }
}
