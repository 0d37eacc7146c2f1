// The observer of streams, which parses few events, reads the same as a reader that parses each one.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { runs } from '#test/run/runs.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import { SseParser } from '../http/sse.ts'
import { FORMATS } from './formats/table.ts'
import { asObject, asString, type JsonObject, parseObject } from './json.ts'
import { observed } from './stream-observer.testing.ts'
import { emptyFacts } from './usage.ts'

const NAMES = ['Completions', 'Messages', 'Responses', 'GenerateContent'] as const satisfies readonly FormatName[]
type Name = (typeof NAMES)[number]

const count = fc.nat({ max: 1000 })
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '"usage": {"total_tokens":1}', '"error"', 'data: [DONE]', 'é', '\n\ndata: {}\n\n'),
)

const openAiUsage = fc.oneof(
  fc.constant(null),
  fc.record(
    { prompt_tokens: count, completion_tokens: count, total_tokens: count },
    { requiredKeys: ['completion_tokens'] },
  ),
)

/** The data of events. */
const EVENTS: { readonly [K in Name]: fc.Arbitrary<object> } = {
  Completions: fc.record(
    {
      model: fc.constant('m'),
      choices: fc.oneof(
        fc.constant([]),
        text.map((content) => [{ delta: { content } }]),
        text.map((name) => [{ delta: { tool_calls: [{ function: { name } }] } }]),
      ),
      usage: openAiUsage,
      error: fc.record({ type: fc.constantFrom('overloaded', 'other') }),
    },
    { requiredKeys: ['model', 'choices'] },
  ),
  Messages: fc.oneof(
    fc.record({ input_tokens: count, cache_read_input_tokens: count }).map((usage) => ({
      type: 'message_start',
      message: { model: 'm', usage },
    })),
    text.map((delta) => ({ type: 'content_block_delta', delta: { text: delta } })),
    fc
      .record({ output_tokens: count, input_tokens: fc.constantFrom(null, 7) }, { requiredKeys: ['output_tokens'] })
      .map((usage) => ({ type: 'message_delta', usage })),
    fc.constant({ type: 'message_delta', usage: null }),
    fc.constantFrom({ type: 'message_stop' }, { type: 'ping' }),
    fc.constant({ type: 'error', error: { type: 'overloaded_error' } }),
  ),
  Responses: fc.oneof(
    fc.constant({ type: 'response.created', response: { model: 'm', error: null, usage: null } }),
    text.map((delta) => ({ type: 'response.output_text.delta', delta })),
    fc.record({ input_tokens: count, output_tokens: count, total_tokens: count }).map((usage) => ({
      type: 'response.completed',
      response: { model: 'm', service_tier: 'flex', usage },
    })),
  ),
  GenerateContent: fc
    .record(
      {
        part: text,
        usage: fc.record({ promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count }),
        isLast: fc.boolean(),
      },
      { requiredKeys: ['part', 'isLast'] },
    )
    .map(({ part, usage, isLast }) => ({
      candidates: [{ content: { parts: [{ text: part }] }, ...(isLast && { finishReason: 'STOP' }) }],
      ...(usage !== undefined && { usageMetadata: usage }),
      modelVersion: 'm',
    })),
}

/** Lines without data. */
const noise = fc.constantFrom(
  '',
  ': ping\n',
  ': "usage":{"a":1}\n',
  'event: x\n',
  'id: 1\n',
  'database: 1\n',
  'data',
  '\n',
)

/** An event as it is sent: its data may have spaces, and be on several lines. */
function sentEvent(json: fc.Arbitrary<object>): fc.Arbitrary<string> {
  const spacing = fc.constantFrom(undefined, 1)
  const data = fc.tuple(json, spacing, fc.boolean()).map(([value, indent, isSplit]) => {
    const lines = JSON.stringify(value, undefined, indent)
    return isSplit ? lines.replaceAll('\n', '\ndata: ') : lines.replaceAll('\n', ' ')
  })
  return fc
    .tuple(noise, fc.oneof(data, fc.constantFrom('[DONE]', '{', '')), fc.constantFrom('data: ', 'data:'), noise)
    .map(([before, value, name, after]) => `${before === 'data' ? 'data\n' : before}${name}${value}\n${after}\n`)
}

interface Stream {
  readonly name: Name
  readonly bytes: Buffer
}

function streamOf(name: Name): fc.Arbitrary<Stream> {
  return fc
    .record({
      mark: fc.constantFrom('', '', '\u{FEFF}'),
      events: fc.array(sentEvent(EVENTS[name]), { maxLength: 12 }),
      end: fc.constantFrom('', 'data: [DONE]\n\n', '\u{FEFF}data: {}\n\n', 'data: {', ': ping\n\n'),
      lineEnd: fc.constantFrom('\n', '\n', '\n', '\r\n', '\r'),
    })
    .map(({ mark, events, end, lineEnd }) => ({
      name,
      bytes: Buffer.from(`${mark}${(events.join('') + end).replaceAll('\n', lineEnd)}`),
    }))
}

const cuts = fc.oneof(
  fc.constant([]),
  fc.array(fc.nat({ max: 3000 }), { maxLength: 8 }),
  fc.constant(Array.from({ length: 3000 }, (_, index) => index)),
)

function chunksOf(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.filter((place) => place < bytes.length).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

interface Read {
  readonly facts: LlmFacts
  readonly hasFirstToken: boolean
  readonly reason: string
  readonly detail: string | undefined
}

function readByObserver({ name }: Stream, chunks: Parameters<typeof observed>[1]): Read {
  const { facts, exchange } = observed(name, chunks)
  const hasFirstToken = facts.timeToFirstTokenMs !== undefined
  facts.timeToFirstTokenMs = undefined
  return { facts, hasFirstToken, reason: exchange.reason, detail: exchange.errorDetail }
}

/** Parses each event. */
function readFully({ name, bytes }: Stream): Read {
  const format = FORMATS[name]
  const facts = emptyFacts('p')
  const events = new SseParser(Number.POSITIVE_INFINITY).push(bytes)
  const answers = events.map(({ data }) => parseObject(data)).filter((answer) => answer !== undefined)
  for (const answer of answers) format.observe(facts, answer)
  const error = answers.findLast((answer) => answer['type'] === 'error' || answer['error'] !== undefined)
  const isCut = format.lastEvent !== undefined && !format.lastEvent.test(events.at(-1)?.data ?? '')
  const cut = isCut ? 'the stream of the provider ended without its final event' : undefined
  return {
    facts,
    hasFirstToken: answers.some((answer) => format.hasContent(answer)),
    reason: error === undefined ? 'Upstream' : 'UpstreamFailure',
    detail: error === undefined ? cut : detailOf(error),
  }
}

function detailOf({ error }: JsonObject): string {
  return `the provider reported an error in its stream: ${asString(asObject(error)['type']) ?? 'unknown'}`
}

it('reads the same as a reader of every event', () => {
  const stream = fc.constantFrom(...NAMES).chain(streamOf)
  fc.assert(
    fc.property(stream, cuts, (sent, at) => {
      const read = readFully(sent)
      expect(readByObserver(sent, chunksOf(sent.bytes, at))).toEqual(read)
      expect(readByObserver(sent, { whole: sent.bytes })).toEqual(read)
    }),
    { numRuns: runs(1000) },
  )
})
