// Where the events of a stream have parts of texts, for each format of clients. Texts that an event has as a whole are
// found as those of an answer (text-fields.ts).
import type { FormatName } from '#api/llm/formats.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import type { Step } from '../conversation.ts'
import type { TextSpan } from '../guard.ts'

/** A part of a text that continues in later events. */
export interface Delta {
  /** The text that it is a part of. */
  readonly channel: string
  readonly kind: 'text' | 'values'
  readonly path: readonly Step[]
  readonly text: string
}

export interface StreamTexts {
  deltas(event: JsonObject): readonly Delta[]
  /** Whether the channel ends with the event. */
  closes(event: JsonObject): (channel: string) => boolean
  /** Later events repeat whole texts. */
  readonly isRepeated: boolean
  /** The channel of the text of the sound in the event; undefined: the event has no sound. */
  transcriptOf?(event: JsonObject): string | undefined
  /** Texts that the client has sent; the provider repeats them. */
  readonly isOfClient?: (span: TextSpan) => boolean
}

const NONE = (): boolean => false

const completions: StreamTexts = {
  isRepeated: false,
  deltas: (event) => alternatives(event['choices']).flatMap(({ value, at, index }) => choiceDeltas(value, at, index)),
  closes: (event) => endOf(alternatives(event['choices']), 'finish_reason'),
}

/** One of the answers of an event, in a list of them. */
interface Alternative {
  readonly value: JsonObject
  /** Its place in the event. */
  readonly at: number
  /** The same in all events of the stream. */
  readonly index: number
}

function alternatives(list: unknown): readonly Alternative[] {
  return asArray(list).map((item, at) => {
    const value = asObject(item)
    return { value, at, index: asNumber(value['index']) ?? 0 }
  })
}

/** Channels of an alternative begin with its index. */
function endOf(list: readonly Alternative[], reason: string): (channel: string) => boolean {
  const ended = list.filter(({ value }) => typeof value[reason] === 'string')
  return (channel) => ended.some(({ index }) => channel.startsWith(`${index}.`))
}

const CHOICE_TEXTS = ['content', 'refusal', 'reasoning_content', 'reasoning', 'reasoning_details'] as const

function choiceDeltas(choice: JsonObject, at: number, index: number): readonly Delta[] {
  const delta = asObject(choice['delta'])
  const path = ['choices', at, 'delta']
  const texts = CHOICE_TEXTS.flatMap((name) => textDeltas(delta[name], `${index}.${name}`, [...path, name]))
  const spoken = deltaOf(asObject(delta['audio'])['transcript'], {
    channel: `${index}.transcript`,
    kind: 'text',
    path: [...path, 'audio', 'transcript'],
  })
  const called = deltaOf(asObject(delta['function_call'])['arguments'], {
    channel: `${index}.function`,
    kind: 'values',
    path: [...path, 'function_call', 'arguments'],
  })
  const calls = asArray(delta['tool_calls']).flatMap((item, place) => {
    const call = asObject(item)
    const channel = `${index}.call${asNumber(call['index']) ?? 0}`
    const own = [...path, 'tool_calls', place]
    return [
      ...deltaOf(asObject(call['function'])['arguments'], {
        channel,
        kind: 'values',
        path: [...own, 'function', 'arguments'],
      }),
      ...deltaOf(asObject(call['custom'])['input'], { channel, kind: 'text', path: [...own, 'custom', 'input'] }),
    ]
  })
  return [...texts, ...spoken, ...called, ...calls]
}

/** A text, or a list of parts, which some servers send. */
function textDeltas(value: unknown, channel: string, path: readonly Step[]): readonly Delta[] {
  return [
    ...deltaOf(value, { channel, kind: 'text', path }),
    ...asArray(value).flatMap((part, place) =>
      deltaOf(asObject(part)['text'], { channel, kind: 'text', path: [...path, place, 'text'] }),
    ),
  ]
}

function deltaOf(value: unknown, place: Omit<Delta, 'text'>): readonly Delta[] {
  const text = asString(value) ?? ''
  return text === '' ? [] : [{ ...place, text }]
}

const BLOCK_DELTAS: Readonly<Record<string, Delta['kind']>> = { text: 'text', thinking: 'text', partial_json: 'values' }

/** A block may begin with a text. */
const BLOCK_EVENTS: ReadonlyMap<unknown, string> = new Map([
  ['content_block_start', 'content_block'],
  ['content_block_delta', 'delta'],
])

const messages: StreamTexts = {
  isRepeated: false,
  deltas(event) {
    const member = BLOCK_EVENTS.get(event['type'])
    if (member === undefined) return []
    const delta = asObject(event[member])
    return Object.entries(BLOCK_DELTAS).flatMap(([name, kind]) =>
      deltaOf(delta[name], { channel: String(event['index']), kind, path: [member, name] }),
    )
  },
  closes: (event) => (event['type'] === 'content_block_stop' ? (channel) => channel === String(event['index']) : NONE),
}

const RESPONSE_DELTA = /^response\.([a-z_.]+)\.(delta|done)$/

const responses: StreamTexts = {
  isRepeated: true,
  deltas(event) {
    const name = responsePart(event, 'delta')
    // Sound is not a text.
    if (name === undefined || name === 'audio') return []
    const kind = name.endsWith('arguments') ? 'values' : 'text'
    return deltaOf(event['delta'], { channel: responseChannel(event, name), kind, path: ['delta'] })
  },
  closes(event) {
    const name = responsePart(event, 'done')
    const ended = name === undefined ? undefined : responseChannel(event, name)
    return (channel) => channel === ended
  },
}

function responsePart({ type }: JsonObject, step: 'delta' | 'done'): string | undefined {
  const [, name, found] = RESPONSE_DELTA.exec(asString(type) ?? '') ?? []
  return found === step ? name : undefined
}

function responseChannel(
  { output_index: output, content_index: content, summary_index: summary }: JsonObject,
  name: string,
) {
  return `${name}.${asNumber(output) ?? 0}.${asNumber(content) ?? asNumber(summary) ?? 0}`
}

const gemini: StreamTexts = {
  isRepeated: false,
  deltas: (event) =>
    alternatives(event['candidates']).flatMap(({ value, at, index }) =>
      asArray(asObject(value['content'])['parts']).flatMap((item, place) => {
        const { text, thought } = asObject(item)
        const path = ['candidates', at, 'content', 'parts', place, 'text']
        return deltaOf(text, { channel: `${index}.${thought === true}`, kind: 'text', path })
      }),
    ),
  closes: (event) => endOf(alternatives(event['candidates']), 'finishReason'),
}

const REALTIME_DELTA = /^(.+)\.delta$/
const REALTIME_END = /^(.+)\.(?:done|completed|failed)$/
const REALTIME_SOUND = /[._]audio$/

/** Events of one answer, or of what a user said. */
const realtime: StreamTexts = {
  isRepeated: true,
  deltas(event) {
    const name = REALTIME_DELTA.exec(asString(event['type']) ?? '')?.[1]
    if (name === undefined || REALTIME_SOUND.test(name)) return []
    const kind = name.endsWith('arguments') ? 'values' : 'text'
    return deltaOf(event['delta'], { channel: realtimeChannel(event, name), kind, path: ['delta'] })
  },
  closes(event) {
    const name = REALTIME_END.exec(asString(event['type']) ?? '')?.[1]
    const ended = name === undefined ? undefined : realtimeChannel(event, name)
    return (channel) => channel === ended
  },
  transcriptOf(event) {
    const name = REALTIME_DELTA.exec(asString(event['type']) ?? '')?.[1]
    const isSound = name !== undefined && REALTIME_SOUND.test(name)
    return isSound ? realtimeChannel(event, `${name}_transcript`) : undefined
  },
  // What users say is not a text before the provider has transcribed it.
  isOfClient: ({ role, at }) => role !== 'assistant' && !at.endsWith('transcript'),
}

function realtimeChannel({ item_id: item, content_index: content }: JsonObject, name: string): string {
  return `${name}.${asString(item) ?? ''}.${asNumber(content) ?? 0}`
}

/** undefined: the format has no streams of a conversation. */
export const STREAM_TEXTS: { readonly [N in FormatName]: StreamTexts | undefined } = {
  Completions: completions,
  Messages: messages,
  Responses: responses,
  GenerateContent: gemini,
  GeminiCountTokens: undefined,
  Embeddings: undefined,
  AnthropicTokenCount: undefined,
  Realtime: realtime,
  Rerank: undefined,
}
