// The guards of responses on the events that a provider of the Realtime API sends. Each answer is a stream of its own:
// its events are held until their texts are cleared, and its sound until the whole transcript is. Sound cannot be
// masked: it is dropped if guards mask its transcript, or if it has none.
import type { SseEvent } from '../../http/sse.ts'
import { WebSocketError } from '../../http/websocket-reader.ts'
import { editedText, type JsonText, readJsonText } from '../json-text.ts'
import { asObject, asString, type JsonObject } from '../json.ts'
import { type Step, withValues } from './conversation.ts'
import { isOwnEvent, type RealtimeErrors } from '../realtime-errors.ts'
import { soundIn } from './realtime-sound.ts'
import { type Blocked, isBlocked, StreamGuard, type StreamGuardSettings } from './stream/stream-guard.ts'

/** Answers and transcriptions at the same time; vendors allow far fewer. */
const ANSWERS_MAX = 64
/** Items of one answer. */
const ITEMS_MAX = 1024
const SOUND_DROPPED = 'audio was dropped: guards masked its transcript, or it has none'

/** An answer, or the transcription of what a user said. */
interface Answer {
  readonly guard: StreamGuard
  /** Id of the answer; undefined: a transcription. */
  readonly response: string | undefined
  readonly items: Set<string>
  isBlocked: boolean
}

export interface CheckedAnswer {
  /** Events in their order. */
  readonly toClient: readonly string[]
  readonly toProvider: readonly string[]
}

export class RealtimeAnswers {
  readonly #settings: StreamGuardSettings
  readonly #errors: RealtimeErrors
  readonly #answers = new Set<Answer>()

  constructor(settings: StreamGuardSettings, errors: RealtimeErrors) {
    this.#settings = settings
    this.#errors = errors
  }

  /** `text`: one message of the provider. @throws {WebSocketError} guards cannot check the session any longer */
  async check(text: string): Promise<CheckedAnswer> {
    const json = readJsonText(text)
    if (json === undefined) throw new WebSocketError('guards cannot check a message that is not a JSON object')
    const event = json.members
    // An answer that the gateway cancelled was complete.
    if (isOwnEvent(asObject(event['error'])['event_id'])) return { toClient: [], toProvider: [] }
    const known = this.#answerOf(event)
    const answer = known ?? this.#newAnswer(undefined)
    const isLast = known === undefined || endsAnswer(known, event)
    if (isLast) this.#answers.delete(answer)
    const wasBlocked = answer.isBlocked
    const toClient = wasBlocked ? [] : await this.#passed(answer, withoutSound(json), isLast)
    if (!answer.isBlocked || answer.response === undefined) return { toClient, toProvider: [] }
    if (isLast) return { toClient: [...toClient, withoutOutput(json)], toProvider: [] }
    return { toClient, toProvider: wasBlocked ? [] : [this.#cancelOf(answer.response)] }
  }

  /** The held events, when the session ends. */
  async end(): Promise<readonly string[]> {
    const sent: string[] = []
    for (const answer of this.#answers) {
      if (!answer.isBlocked) this.#add(sent, answer, await answer.guard.end())
    }
    this.#answers.clear()
    return sent
  }

  async #passed(answer: Answer, data: string, isLast: boolean): Promise<readonly string[]> {
    const sent: string[] = []
    const { heldBytesMax } = this.#settings
    this.#add(sent, answer, await answer.guard.push([{ event: '', data }]))
    if (!answer.isBlocked && isLast) this.#add(sent, answer, await answer.guard.end())
    const heldBytes = [...this.#answers].reduce((sum, one) => sum + (one.isBlocked ? 0 : one.guard.heldBytes), 0)
    if (!answer.isBlocked && heldBytes >= heldBytesMax) {
      const detail = `the held events of a session are larger than ${heldBytesMax} bytes`
      this.#add(sent, answer, { kind: 'failed', detail })
    }
    return sent
  }

  /** Events for the client, or an error in place of the rest of the answer. */
  #add(sent: string[], answer: Answer, result: readonly SseEvent[] | Blocked): void {
    if (isBlocked(result)) {
      answer.isBlocked = true
      sent.push(this.#errors.blocked(result, undefined))
      return
    }
    for (const { data } of result) sent.push(data)
    if (answer.guard.isSoundDropped) this.#settings.exchange.errorDetail ??= SOUND_DROPPED
  }

  /** undefined: the event belongs to no answer. */
  #answerOf(event: JsonObject): Answer | undefined {
    const response = responseOf(event)
    const item = itemOf(event)
    for (const answer of this.#answers) {
      const isItsOwn =
        response === undefined ? item !== undefined && answer.items.has(item) : answer.response === response
      if (isItsOwn) return withItem(answer, item)
    }
    const isContinued = response !== undefined || (item !== undefined && DELTA.test(typeOf(event)))
    if (!isContinued) return undefined
    if (this.#answers.size === ANSWERS_MAX)
      throw new WebSocketError(`more than ${ANSWERS_MAX} answers at the same time`)
    const answer = this.#newAnswer(response)
    this.#answers.add(answer)
    return withItem(answer, item)
  }

  #newAnswer(response: string | undefined): Answer {
    const guard = StreamGuard.of('Realtime', this.#settings)
    if (guard === undefined) throw new TypeError('Realtime has no streams')
    return { guard, response, items: new Set(), isBlocked: false }
  }

  #cancelOf(response: string): string {
    const named = response === UNNAMED ? {} : { response_id: response }
    return JSON.stringify({ type: 'response.cancel', event_id: this.#errors.nextId(), ...named })
  }
}

const DELTA = /\.delta$/
const TRANSCRIBED = /\.(?:completed|failed)$/
const OF_RESPONSE = /^response\./
/** Some servers leave ids out: their parts of a text are one text all the same. */
const UNNAMED = ''

function typeOf({ type }: JsonObject): string {
  return asString(type) ?? ''
}

function responseOf(event: JsonObject): string | undefined {
  const id = asString(event['response_id']) ?? asString(asObject(event['response'])['id'])
  return id ?? (OF_RESPONSE.test(typeOf(event)) ? UNNAMED : undefined)
}

function itemOf(event: JsonObject): string | undefined {
  const id = asString(event['item_id']) ?? asString(asObject(event['item'])['id'])
  const type = typeOf(event)
  return id ?? (DELTA.test(type) || TRANSCRIBED.test(type) ? UNNAMED : undefined)
}

function endsAnswer({ response }: Answer, event: JsonObject): boolean {
  const type = typeOf(event)
  return response === undefined ? TRANSCRIBED.test(type) : type === 'response.done'
}

function withItem(answer: Answer, item: string | undefined): Answer {
  if (item !== undefined) answer.items.add(item)
  if (answer.items.size > ITEMS_MAX) throw new WebSocketError(`an answer has more than ${ITEMS_MAX} items`)
  return answer
}

/** Sound beside texts in one event, such as a whole item. */
function withoutSound(json: JsonText): string {
  const places = soundIn(json.members)
  if (places.length === 0) return json.received
  return editedText({
    ...json,
    members: withValues(
      json.members,
      places.map((place) => [place, '']),
    ),
  })
}

/** The last event of an answer that guards blocked: clients wait for it, and read the usage in it. */
function withoutOutput(json: JsonText): string {
  const changes: readonly (readonly [readonly Step[], unknown])[] = [
    [['response', 'output'], []],
    [['response', 'status'], 'incomplete'],
    [['response', 'status_details'], { type: 'incomplete', reason: 'content_filter' }],
  ]
  return editedText({ ...json, members: withValues(json.members, changes) })
}
