// @module-tag full
// Damaged and arbitrary input for every parser of this folder, for a limited time each. A parser reports bad input as
// its contract defines it; it never throws anything else, and never takes long.
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { EventStreamError } from '../http/event-stream.ts'
import { SseTooLarge } from '../http/sse.ts'
import { carriedSignature, carriedText } from './canonical/carrier.ts'
import { grammatical } from './canonical/grammar.testing.ts'
import { decodeAtOnce, DecodedTooLarge, UnknownEncoding } from './encoding.ts'
import { chatFormat, providerChat } from './formats/chat-table.ts'
import { FORMATS } from './formats/table.ts'
import { generateUrl } from './formats/gemini/url.ts'
import { FRAMES, type FrameReader } from './frames.ts'
import { parseObject, type JsonObject } from './json.ts'
import { editedText, readJsonText } from './json-text.ts'
import { formField } from './model-request.ts'
import { clientRequest } from './translate/client-requests.testing.ts'
import { converseAnswer, converseException, converseStream } from './translate/converse.testing.ts'
import { conversionFrom } from './translate/table.ts'
import { notesIn, translationOf } from './translate/translate.testing.ts'
import { Untranslatable } from './translate/untranslatable.ts'
import { SCENARIOS, VENDORS, type VendorName } from './translate/vendors.testing.ts'

const TIME_LIMIT_MS = 1000
/** Of one input. */
const SLOW_MS = 1000
const BYTES_MAX = 64 * 1024

const ALL_SCENARIOS = Object.values(SCENARIOS)
const CLIENTS: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']
const PROVIDERS = [...CLIENTS, 'Converse'] as const

type ProviderName = (typeof PROVIDERS)[number]

const isTranslated = (client: VendorName, provider: ProviderName): boolean =>
  conversionFrom(FORMATS[client], new Set([provider]))?.translation !== undefined

/** Runs until the time is over, and reports seed and input of a failure. Returns the number of runs. */
function fuzz<T>(arbitrary: fc.Arbitrary<T>, parse: (input: T) => void, allowed: readonly ErrorClass[] = []): number {
  const property = fc.property(arbitrary, (input) => {
    const start = performance.now()
    try {
      parse(input)
    } catch (error) {
      if (!allowed.some((one) => error instanceof one)) throw error
    }
    if (performance.now() - start > SLOW_MS) throw new Error('too slow')
  })
  const limits = { numRuns: 1_000_000, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: false }
  const run = fc.check(property, limits)
  if (run.failed) throw new Error(fc.defaultReportMessage(run), { cause: run.errorInstance })
  return run.numRuns
}

/** Fewer are not a test of a parser. */
const RUNS_MIN = 20

type ErrorClass = new (...parameters: never[]) => Error

/** What is put in: marks of JSON and of frames, names with a meaning, and bytes that are not UTF-8. */
const WORDS =
  'null -1 1e999 12345678901234567890 "" {} [] true "__proto__" [DONE] error data: event: { } [ ] " : , \\ud800'
const TOKENS = [...WORDS.split(' '), '\\', '\n\n', '\r', '\u{FEFF}', '\0', '\xff'].map((token) =>
  Buffer.from(token, 'latin1'),
)

/** Bytes that are removed, repeated and added at a place of the input. */
interface Edit {
  /** From 0, the beginning, to 1. */
  readonly at: number
  readonly removed: number
  readonly repeated: number
  readonly added: Buffer
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat({ max: 12 }),
  repeated: fc.nat({ max: 3 }),
  added: fc.constantFrom(Buffer.alloc(0), ...TOKENS),
})
const edits = fc.array(edit, { maxLength: 6 })

function damaged(bytes: Buffer, list: readonly Edit[]): Buffer {
  let out = bytes
  for (const { at, removed, repeated, added } of list) {
    const place = Math.trunc(at * out.length)
    const again = out.subarray(place, place + removed * repeated)
    out = Buffer.concat([out.subarray(0, place), added, again, again, out.subarray(place + removed)])
  }
  return out.subarray(0, BYTES_MAX)
}

/** One value of a sample, such as an object of a list, and the value in its place. */
interface Change {
  readonly place: number
  readonly value: unknown
}

const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat({ max: 500 }),
  value: fc.constantFrom(null, 0, -1, '', 'x', true, [], {}, [null], { a: null }),
})

/** `list`: one value after the other is changed. */
function withChanges(json: JsonObject, list: readonly Change[]): JsonObject {
  const copy = structuredClone(json)
  for (const { place, value } of list) {
    const places = placesIn(copy)
    places[place % Math.max(1, places.length)]?.(structuredClone(value))
  }
  return copy
}

/** A setter for each value at any depth. */
function placesIn(value: unknown): readonly ((value: unknown) => void)[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, below]) => [
    (odd: unknown) => void Reflect.set(value, name, odd),
    ...placesIn(below),
  ])
}

const changes = fc.array(change, { minLength: 1, maxLength: 3 })

const changedOf = (samples: readonly Buffer[]): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(fc.constantFrom(...samples), changes)
    .map(([bytes, list]) => withChanges(parseObject(bytes.toString('utf8')) ?? {}, list))

const anyOf = (samples: readonly Buffer[]): fc.Arbitrary<Buffer> =>
  fc.tuple(fc.constantFrom(...samples), edits).map(([bytes, list]) => damaged(bytes, list))

const textsOf = (samples: readonly object[]): readonly Buffer[] =>
  samples.map((sample) => Buffer.from(JSON.stringify(sample)))

/** The provider's answers: of each scenario, and an error. */
function answersOf(name: ProviderName): { readonly whole: readonly Buffer[]; readonly streams: readonly Buffer[] } {
  if (name === 'Converse') {
    const exception = converseException('throttlingException', 'too busy')
    return {
      whole: textsOf([...ALL_SCENARIOS.map((one) => converseAnswer(one)), { message: 'no' }]),
      streams: ALL_SCENARIOS.map((one) => Buffer.concat([...converseStream(one), exception])),
    }
  }
  const vendor = VENDORS[CLIENTS.find((one) => one === name) ?? 'Messages']
  return {
    whole: textsOf([...ALL_SCENARIOS.map((one) => vendor.whole(one)), vendor.error('no')]),
    streams: ALL_SCENARIOS.map((one) => Buffer.from(vendor.stream(one).join('') + vendor.errorFrame('busy'))),
  }
}

/** Two pieces, as from a network. */
function eventsIn(reader: FrameReader, bytes: Buffer): ReturnType<FrameReader['push']> {
  const middle = Math.trunc(bytes.length / 2)
  return [...reader.push(bytes.subarray(0, middle)), ...reader.push(bytes.subarray(middle))]
}

describe.each(PROVIDERS)('the answers of %s', (name) => {
  const format = providerChat(name)
  if (format === undefined) throw new Error(`${name} is not translated`)
  const { whole, streams } = answersOf(name)
  const frames = FRAMES[name === 'Converse' ? 'AwsEventStream' : 'Sse']

  const readWhole = (json: JsonObject): void => {
    const events = format.decodeAnswer(json)
    if (events !== undefined) grammatical(events)
    format.decodeError(json, 500)
  }

  it('whole, and errors', () => {
    const read = (bytes: Buffer): void => {
      const json = parseJson(bytes.toString('utf8'))
      if (isRecord(json)) readWhole(json)
    }
    expect(fuzz(anyOf(whole), read)).toBeGreaterThan(RUNS_MIN)
    expect(fuzz(changedOf(whole), readWhole)).toBeGreaterThan(RUNS_MIN)
  })

  it('streamed with values of other types', () => {
    const input = fc.tuple(fc.constantFrom(...streams), fc.nat({ max: 50 }), changes)
    const read = ([bytes, place, list]: [Buffer, number, Change[]]): void => {
      const decoder = format.decodeStream()
      const events = eventsIn(frames.reader(BYTES_MAX), bytes).map((event, at, all) => {
        const json = at === place % all.length ? parseObject(event.data) : undefined
        return json === undefined ? event : { ...event, data: JSON.stringify(withChanges(json, list)) }
      })
      grammatical([...events.flatMap((event) => decoder.event(event)), ...decoder.end()])
    }
    expect(fuzz(input, read)).toBeGreaterThan(RUNS_MIN)
  })

  it('streamed', () => {
    const input = fc.oneof(
      anyOf(streams),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    )
    expect(
      fuzz(
        input,
        (bytes) => {
          const events = eventsIn(frames.reader(BYTES_MAX), bytes)
          const decoder = format.decodeStream()
          grammatical([...events.flatMap((event) => decoder.event(event)), ...decoder.end()])
        },
        [SseTooLarge, EventStreamError],
      ),
    ).toBeGreaterThan(RUNS_MIN)
  })

  it.each(CLIENTS.filter((one) => isTranslated(one, name)))('streamed for a client of %s', (client) => {
    const translation = translationOf(client, name)
    expect(
      fuzz(
        anyOf(streams),
        (bytes) => {
          const translator = translation.stream({ createdSeconds: 1, includeUsage: true })
          const text = eventsIn(frames.reader(BYTES_MAX), bytes)
            .map((event) => translator.event(event))
            .join('')
          expect(`${text}${translator.end()}`).toMatch(/\n\n$/)
        },
        [SseTooLarge, EventStreamError],
      ),
    ).toBeGreaterThan(RUNS_MIN)
  })
})

/** Requests that have all kinds of parts, in the form of each client. */
const CONVERSATIONS: { readonly [N in VendorName]: object } = {
  Completions: {
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }] },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { $ref: '#/$defs/a', $defs: { a: {} } } } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
  },
  Messages: {
    system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'gw:Responses:rs:x' },
          { type: 'tool_use', id: 'c', name: 'f', input: { a: [1] } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'x' }] }] },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    thinking: { type: 'enabled', budget_tokens: 2048 },
  },
  Responses: {
    instructions: 'be brief',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { type: 'reasoning', id: 'rs', encrypted_content: 'x', summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ],
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
    reasoning: { effort: 'low' },
  },
  GenerateContent: {
    systemInstruction: { parts: [{ text: 'be brief' }] },
    contents: [
      { parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }] },
      { role: 'model', parts: [{ text: 'hm', thought: true, thoughtSignature: 'Z3c6TWVzc2FnZXM6c2ln' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] },
      { parts: [{ functionResponse: { name: 'f', response: { output: 'x' } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: {} } }] }],
    generationConfig: { responseMimeType: 'application/json', responseSchema: { type: 'ARRAY', anyOf: [{}] } },
  },
}

describe.each(CLIENTS)('the requests of %s', (name) => {
  const sample = Buffer.from(clientRequest(name, CONVERSATIONS[name], true).body)

  it('to each provider', () => {
    const translations = PROVIDERS.filter((to) => isTranslated(name, to)).map((to) => translationOf(name, to))
    expect(
      fuzz(
        fc.tuple(anyOf([sample]), fc.constantFrom(...translations)),
        ([bytes, translation]) => {
          const json = parseJson(bytes.toString('utf8'))
          if (isRecord(json)) translation.request(json, notesIn([]))
        },
        [Untranslatable],
      ),
    ).toBeGreaterThan(RUNS_MIN)
  })

  it('with values of other types', () => {
    const format: FormatName = name
    const read = (json: JsonObject): void => void chatFormat(format)?.decodeRequest(json, notesIn([]))
    expect(fuzz(changedOf([sample]), read, [Untranslatable])).toBeGreaterThan(RUNS_MIN)
  })
})

describe('the rest of a request', () => {
  it('its JSON text with the places of its members', () => {
    expect(
      fuzz(
        anyOf([Buffer.from('{"model": "a", "n": 1.0, "messages": [{"content": "x"}], "big": 12345678901234567890}')]),
        (bytes) => {
          const json = readJsonText(bytes.toString('utf8'))
          if (json === undefined) return
          expect(parseJson(editedText(json))).toEqual(json.members)
          json.members['model'] = 'b'
          expect(parseJson(editedText(json))).toEqual(json.members)
        },
      ),
    ).toBeGreaterThan(RUNS_MIN)
  })

  it('its form', () => {
    const form = Buffer.from('--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--b--\r\n')
    expect(fuzz(anyOf([form]), (bytes) => formField(bytes, 'b', 'model'))).toBeGreaterThan(RUNS_MIN)
  })

  it('its path', () => {
    const pieces = ['/models/', '/tunedModels/', 'a', '%', '%2F', '%ff', ':', ':generateContent', '/', '..']
    const path = fc.array(fc.constantFrom(...pieces), { maxLength: 2000 }).map((list) => list.join(''))
    expect(
      fuzz(path, (text) => {
        const found = generateUrl.read(text, 'alt=sse')
        if (found === undefined) return
        expect(generateUrl.read(generateUrl.withModel(text, 'b'), '')).toMatchObject({ model: 'b' })
      }),
    ).toBeGreaterThan(RUNS_MIN)
  })

  it('its encoding, up to the limit', () => {
    expect(
      fuzz(
        fc.tuple(
          anyOf([gzipSync('x'.repeat(200_000)), gzipSync('{"a":1}')]),
          fc.constantFrom('gzip', 'br', 'deflate', 'zstd', 'x'),
        ),
        ([bytes, encoding]) => expect(decodeAtOnce(bytes, encoding, BYTES_MAX).length).toBeLessThanOrEqual(BYTES_MAX),
        // Damaged data: the error of the decoder.
        [DecodedTooLarge, UnknownEncoding, Error],
      ),
    ).toBeGreaterThan(RUNS_MIN)
  })

  it('its signatures of reasoning', () => {
    expect(
      fuzz(fc.tuple(fc.string(), fc.constantFrom('', 'gw:', 'gw:Messages:', 'gw:Odd:')), ([text, head]) => {
        const signature = carriedSignature(head + text, 'Completions')
        expect(carriedSignature(carriedText(signature, 'Completions'), 'Completions')).toEqual(signature)
      }),
    ).toBeGreaterThan(RUNS_MIN)
  })
})
