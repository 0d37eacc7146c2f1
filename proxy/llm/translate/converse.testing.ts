// Amazon Bedrock for tests: whole answers and event streams of the Converse API, written by hand from the vendor's
// documentation and framed by the vendor's codec. The vendor's SDK reads them in bedrock.test.ts.
import { EventStreamCodec } from '@smithy/core/event-streams'
import { parseExactObject, type JsonObject } from '../json.ts'
import type { Scenario } from './vendors.testing.ts'

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
)

function framed(kind: 'event' | 'exception', type: string, json: JsonObject): Buffer {
  const header = (value: string) => ({ type: 'string', value }) as const
  const headers = {
    ':message-type': header(kind),
    [`:${kind}-type`]: header(type),
    ':content-type': header('application/json'),
  }
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(json)) }))
}

const STOPS = { stop: 'end_turn', length: 'max_tokens', toolCalls: 'tool_use' } as const

const inputOf = (text: string): unknown => (text === '' ? {} : parseExactObject(text))

function usageOf({ usage: { input, cached, output } }: Scenario): JsonObject {
  const inputTokens = input - (cached ?? 0)
  return {
    inputTokens,
    outputTokens: output,
    totalTokens: inputTokens + output,
    ...(cached !== null && { cacheReadInputTokens: cached, cacheWriteInputTokens: 0 }),
  }
}

export function converseAnswer(scenario: Scenario): JsonObject {
  const { reasoning, text, calls = [], stop } = scenario
  return {
    output: {
      message: {
        role: 'assistant',
        content: [
          ...(reasoning ? [{ reasoningContent: { reasoningText: reasoning } }] : []),
          ...(text === undefined ? [] : [{ text }]),
          ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input: inputOf(input) } })),
        ],
      },
    },
    stopReason: STOPS[stop],
    usage: usageOf(scenario),
    metrics: { latencyMs: 7 },
  }
}

const pieces = (text: string): readonly string[] => text.match(/[^]{1,5}/gu) ?? []

/** Frames of the event stream. Only tool calls have an event that starts them. */
export function converseStream(scenario: Scenario): readonly Buffer[] {
  const { reasoning, text, calls = [], stop } = scenario
  const blocks: (readonly { readonly type: string; readonly json: JsonObject }[])[] = []
  const delta = (json: JsonObject) => ({ type: 'contentBlockDelta', json: { delta: json } })
  if (reasoning !== undefined) {
    blocks.push([
      ...pieces(reasoning.text).map((piece) => delta({ reasoningContent: { text: piece } })),
      delta({ reasoningContent: { signature: reasoning.signature } }),
    ])
  }
  if (text !== undefined) blocks.push(pieces(text).map((piece) => delta({ text: piece })))
  for (const { id, name, input } of calls) {
    const start = { type: 'contentBlockStart', json: { start: { toolUse: { toolUseId: id, name } } } }
    blocks.push([start, ...pieces(input).map((piece) => delta({ toolUse: { input: piece } }))])
  }
  return [
    framed('event', 'messageStart', { role: 'assistant', p: 'abc' }),
    ...blocks.flatMap((events, contentBlockIndex) => [
      ...events.map(({ type, json }) => framed('event', type, { contentBlockIndex, ...json, p: 'abcdefgh' })),
      framed('event', 'contentBlockStop', { contentBlockIndex }),
    ]),
    framed('event', 'messageStop', { stopReason: STOPS[stop] }),
    framed('event', 'metadata', { usage: usageOf(scenario), metrics: { latencyMs: 7 } }),
  ]
}

export function converseException(type: string, message: string): Buffer {
  return framed('exception', type, { message })
}
