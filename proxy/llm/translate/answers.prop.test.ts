// Laws of answers: a translated stream is the translated whole answer, formats lose nothing that they have themselves,
// and decoders keep the grammar whatever they get.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { SseParser, type SseEvent } from '../../http/sse.ts'
import { AnswerWriter } from '../canonical/answer-writer.ts'
import type { AnswerEvent, Usage } from '../canonical/answer.ts'
import { fold } from '../canonical/fold.ts'
import type { ChatFormat } from '../canonical/format.ts'
import { grammatical } from '../canonical/grammar.testing.ts'
import type { Signature } from '../canonical/request.ts'
import { chatFormat } from '../formats/chat-table.ts'
import { parseExactObject, type JsonObject } from '../json.ts'
import { FRAMES } from '../frames.ts'
import { converseAnswer, converseStream } from './converse.testing.ts'
import { ToolNames } from './tool-names.ts'
import { translationOf } from './translate.testing.ts'
import type { Scenario, VendorName } from './vendors.testing.ts'

const OPTIONS = { createdSeconds: 5, includeUsage: true }
const RUNS = { numRuns: runs(200) }

function formatOf(name: VendorName): ChatFormat {
  const format = chatFormat(name)
  if (format === undefined) throw new Error(`${name} is not translated`)
  return format
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
const count = fc.nat({ max: 1000 })

/** What only the vendor of each format reads. */
const SIGNATURES: { readonly [N in VendorName]: Signature | undefined } = {
  Completions: undefined,
  Messages: { format: 'Messages', value: 'sig+/=' },
  Responses: { format: 'Responses', value: 'rs_1:gAAA' },
  GenerateContent: { format: 'GenerateContent', value: 'thought:c2ln' },
}

interface Drawn {
  readonly reasoning: readonly string[]
  readonly texts: readonly string[]
  readonly calls: readonly { readonly name: string; readonly input: JsonObject }[]
  readonly isSigned: boolean
  readonly usage: Partial<Usage>
  readonly reason: 'stop' | 'length'
  /** Places at which the arguments of calls are cut, and the order of the pieces. */
  readonly order: readonly number[]
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  reasoning: fc.array(text, { maxLength: 3 }),
  texts: fc.array(text, { maxLength: 3 }),
  calls: fc.array(fc.record({ name: fc.stringMatching(/^[a-z_]{1,10}$/), input: json }), { maxLength: 3 }),
  isSigned: fc.boolean(),
  usage: fc.record({
    inputTokens: fc.integer({ min: 500, max: 1000 }),
    cacheReadTokens: fc.nat({ max: 500 }),
    outputTokens: count,
  }),
  reason: fc.constantFrom('stop', 'length'),
  order: fc.array(fc.nat({ max: 2 }), { maxLength: 12 }),
})

/** As the decoder of the format would make them, with the deltas of parallel calls in any order. */
function eventsOf(answer: Drawn, name: VendorName): readonly AnswerEvent[] {
  const writer = new AnswerWriter()
  writer.start('id', 'model')
  if (answer.reasoning.length > 0) writeReasoning(writer, answer, name)
  if (answer.texts.length > 0) {
    const index = writer.open({ kind: 'text' })
    for (const piece of answer.texts) writer.text(index, piece)
    writer.close(index)
  }
  writeCalls(writer, answer)
  writer.usage(answer.usage)
  const hasCalls = answer.calls.length > 0 && answer.reason === 'stop'
  writer.finish(hasCalls ? 'toolCalls' : answer.reason)
  return grammatical(writer.take())
}

function writeReasoning(writer: AnswerWriter, { reasoning, isSigned }: Drawn, name: VendorName): void {
  const index = writer.open({ kind: 'reasoning', isSummary: name !== 'Completions' })
  for (const piece of reasoning) writer.text(index, piece)
  const signature = SIGNATURES[name]
  if (isSigned && signature !== undefined) writer.signature(index, signature)
  writer.close(index)
}

function writeCalls(writer: AnswerWriter, { calls, order }: Drawn): void {
  const open = calls.map(({ name, input }, at) => ({
    index: writer.open({ kind: 'toolCall', id: `call_${at}`, name }),
    rest: JSON.stringify(input),
  }))
  for (const at of order) {
    const call = open[at]
    if (call === undefined) continue
    writer.arguments(call.index, call.rest.slice(0, 3))
    call.rest = call.rest.slice(3)
  }
  for (const { index, rest } of open) writer.arguments(index, rest)
}

function streamOf(format: ChatFormat, events: readonly AnswerEvent[]): string {
  const encoder = format.encodeStream(OPTIONS)
  return events.map((event) => encoder.event(event)).join('')
}

function framesOf(stream: string): readonly SseEvent[] {
  return new SseParser(1_000_000).push(Buffer.from(stream))
}

function decoded(format: ChatFormat, stream: string): readonly AnswerEvent[] {
  const decoder = format.decodeStream()
  const events = framesOf(stream).flatMap((event) => decoder.event(event))
  return grammatical([...events, ...decoder.end()])
}

/** As a client sees it: the ids of items are those of the second pass for both. */
function seen(format: ChatFormat, events: readonly AnswerEvent[] | undefined): JsonObject {
  return format.encodeAnswer(grammatical(events ?? []), OPTIONS)
}

const received = (answer: JsonObject): JsonObject => parseExactObject(JSON.stringify(answer)) ?? {}

const NAMES: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']
const PAIRS = [
  ['Completions', 'Messages'],
  ['Completions', 'Responses'],
  ['Messages', 'Completions'],
  ['Messages', 'Responses'],
  ['Responses', 'Completions'],
  ['Responses', 'Messages'],
  ['Completions', 'GenerateContent'],
  ['Messages', 'GenerateContent'],
  ['Responses', 'GenerateContent'],
  ['GenerateContent', 'Completions'],
  ['GenerateContent', 'Messages'],
  ['GenerateContent', 'Responses'],
] as const

describe.each(PAIRS)('%s from %s', (from, to) => {
  const [client, provider] = [formatOf(from), formatOf(to)]
  const translation = translationOf(from, to)

  it('gives the same answer whole and streamed', () => {
    fc.assert(
      fc.property(drawn, (answer) => {
        const events = eventsOf(answer, to)
        const whole = translation.answer(received(provider.encodeAnswer(events, OPTIONS)), 5)
        const translator = translation.stream(OPTIONS)
        const frames = framesOf(streamOf(provider, events))
        const stream = frames.map((event) => translator.event(event)).join('') + translator.end()
        expect(seen(client, decoded(client, stream))).toEqual(seen(client, client.decodeAnswer(received(whole ?? {}))))
      }),
      RUNS,
    )
  })
})

/** As Bedrock sends it: its blocks come one after the other. */
function scenarioOf({ reasoning, texts, calls, isSigned, usage, reason }: Drawn): Scenario {
  const { inputTokens = 0, cacheReadTokens = 0, outputTokens = 0 } = usage
  return {
    ...(reasoning.length > 0 && { reasoning: { text: reasoning.join(''), signature: isSigned ? 'sig+/=' : '' } }),
    ...(texts.length > 0 && { text: texts.join('') }),
    calls: calls.map(({ name, input }, at) => ({ id: `call_${at}`, name, input: JSON.stringify(input) })),
    stop: calls.length > 0 && reason === 'stop' ? 'toolCalls' : reason,
    usage: { input: inputTokens, cached: cacheReadTokens, output: outputTokens },
  }
}

describe.each(NAMES)('%s from Converse', (from) => {
  const client = formatOf(from)
  const translation = translationOf(from, 'Converse')

  it('gives the same answer whole and streamed', () => {
    fc.assert(
      fc.property(drawn, (answer) => {
        const scenario = scenarioOf(answer)
        const source = { id: 'req-1', model: 'm', names: new ToolNames() }
        const whole = translation.answer(converseAnswer(scenario), 5, source)
        const translator = translation.stream({ ...OPTIONS, source })
        const reader = FRAMES.AwsEventStream.reader(1_000_000)
        const frames = converseStream(scenario).flatMap((frame) => reader.push(frame))
        const stream = frames.map((event) => translator.event(event)).join('') + translator.end()
        expect(seen(client, decoded(client, stream))).toEqual(seen(client, client.decodeAnswer(received(whole ?? {}))))
      }),
      RUNS,
    )
  })
})

describe.each(NAMES)('%s', (name) => {
  const format = formatOf(name)

  it('restores an answer of its own, whole and streamed', () => {
    fc.assert(
      fc.property(drawn, (answer) => {
        const events = eventsOf(answer, name)
        const whole = format.decodeAnswer(received(format.encodeAnswer(events, OPTIONS)))
        const expected = { ...fold(events), id: '' }
        expect({ ...fold(whole ?? []), id: '' }).toMatchObject(expected)
        expect({ ...fold(decoded(format, streamOf(format, events))), id: '' }).toMatchObject(expected)
      }),
      RUNS,
    )
  })

  it('keeps the grammar when events are lost, repeated or out of order', () => {
    fc.assert(
      fc.property(drawn, fc.array(fc.nat({ max: 60 }), { maxLength: 60 }), (answer, places) => {
        const frames = framesOf(streamOf(format, eventsOf(answer, name)))
        const decoder = format.decodeStream()
        const events = places.flatMap((place) => {
          const frame = frames[place]
          return frame === undefined ? [] : decoder.event(frame)
        })
        expect(endOf([...events, ...decoder.end()])).toMatch(END)
      }),
      RUNS,
    )
  })

  it('keeps the grammar for events with members of any type', () => {
    const types = [...new Set(VOCABULARY[name])]
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...types))
    const member = fc.constantFrom(...MEMBERS)
    const event = fc.record(
      {
        type: fc.constantFrom(...types),
        ...Object.fromEntries(MEMBERS.map((one) => [one, fc.oneof(value, fc.dictionary(member, value))])),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (list) => {
        const decoder = format.decodeStream()
        const events = list.flatMap((one) => decoder.event({ event: '', data: JSON.stringify(one) }))
        expect(endOf([...events, ...decoder.end()])).toMatch(END)
        for (const one of list) expect(endOf(format.decodeAnswer(one) ?? GRAMMATICAL)).toMatch(END)
      }),
      RUNS,
    )
  })
})

const END = /^(finish|error)$/

function endOf(events: readonly AnswerEvent[]): string {
  return grammatical(events).at(-1)?.kind ?? ''
}

const GRAMMATICAL: readonly AnswerEvent[] = [
  { kind: 'start', id: '', model: '' },
  { kind: 'finish', reason: 'stop', stopSequence: undefined },
]

const VOCABULARY: { readonly [N in VendorName]: readonly string[] } = {
  Completions: ['chat.completion.chunk', 'function', 'stop'],
  Messages: [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
    'text',
    'thinking',
    'tool_use',
    'text_delta',
    'input_json_delta',
    'signature_delta',
  ],
  Responses: [
    'response.created',
    'response.output_item.added',
    'response.output_text.delta',
    'response.function_call_arguments.delta',
    'response.reasoning_summary_text.delta',
    'response.output_item.done',
    'response.completed',
    'message',
    'function_call',
    'reasoning',
  ],
  GenerateContent: ['model', 'STOP', 'SAFETY'],
}

const MEMBERS = [
  'index',
  'output_index',
  'choices',
  'delta',
  'content',
  'content_block',
  'item',
  'response',
  'usage',
  'output',
  'message',
  'candidates',
  'parts',
  'functionCall',
  'finishReason',
  'promptFeedback',
  'usageMetadata',
]
