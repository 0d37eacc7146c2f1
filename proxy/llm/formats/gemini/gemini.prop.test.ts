// Properties of GenerateContent: any answer, in any pieces; signatures; any schema.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { sseData, SseParser } from '../../../http/sse.ts'
import { fold } from '../../canonical/fold.ts'
import { grammatical } from '../../canonical/grammar.testing.ts'
import type { AnswerEvent } from '../../canonical/answer.ts'
import { asArray, asObject, type JsonObject } from '../../json.ts'
import { notesIn, translationOf } from '../../translate/translate.testing.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { decodeAnswer, GeminiDecoder } from './decode-answer.ts'
import { googleSchema, SchemaBudget } from './schema.ts'

const RUNS = { numRuns: runs(200) }

const text = fc.string({ maxLength: 8 })
const signature = fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined })
const part: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ text, thought: fc.boolean(), thoughtSignature: signature }),
  fc.record({
    functionCall: fc.record({
      name: fc.constantFrom('f', 'g'),
      args: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 })),
    }),
    thoughtSignature: signature,
  }),
  fc.record({ inlineData: fc.constant({ mimeType: 'image/png', data: 'QUJD' }) }),
)
/** Each call with an id of its own. */
const parts = fc.array(part, { maxLength: 8 }).map((list) =>
  list.map((one, index) => {
    const { functionCall } = one
    return functionCall === undefined ? one : { ...one, functionCall: { ...asObject(functionCall), id: `c:${index}` } }
  }),
)

const answerOf = (list: readonly unknown[], finishReason?: string): JsonObject => ({
  candidates: [{ content: { parts: list }, ...(finishReason !== undefined && { finishReason }) }],
  responseId: 'r',
  modelVersion: 'm',
})

function streamed(chunks: readonly JsonObject[]): readonly AnswerEvent[] {
  const decoder = new GeminiDecoder()
  const parser = new SseParser(1_000_000)
  const events = parser.push(Buffer.from(chunks.map((chunk) => sseData(chunk)).join('')))
  return [...[...events].flatMap((event) => decoder.event(event)), ...decoder.end()]
}

describe('an answer of Gemini', () => {
  it('is the same whole and in any pieces', () => {
    fc.assert(
      fc.property(parts, fc.array(fc.nat({ max: 8 })), (list, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, list.length)).toSorted((a, b) => a - b), list.length]
        const chunks = places.slice(1).map((to, at) => answerOf(list.slice(places[at], to)))
        const whole = grammatical(decodeAnswer(answerOf(list, 'STOP')) ?? [])
        const inPieces = grammatical(streamed([...chunks, answerOf([], 'STOP')]))
        expect(fold(inPieces)).toEqual(fold(whole))
      }),
      RUNS,
    )
  })

  it('keeps the grammar whatever Google sends', () => {
    const odd = fc.oneof(part, fc.jsonValue({ maxDepth: 2 }))
    const chunk = fc.oneof(
      fc.array(odd, { maxLength: 4 }).map((list) => answerOf(list)),
      fc.constant(answerOf([], 'STOP')),
      fc.dictionary(fc.constantFrom('candidates', 'usageMetadata', 'promptFeedback', 'error'), fc.jsonValue()),
    )
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 5 }), (chunks) => {
        const last = grammatical(streamed(chunks)).at(-1)
        expect(['finish', 'error']).toContain(last?.kind)
        for (const one of chunks) {
          const whole = decodeAnswer(one)
          if (whole !== undefined) grammatical(whole)
        }
      }),
      RUNS,
    )
  })

  it.each(['Completions', 'Messages'] as const)('gives signatures back with their calls through %s', (client) => {
    const translation = translationOf(client, 'GenerateContent')
    const signaturesOf = (list: readonly unknown[]): unknown =>
      list
        .map(asObject)
        .flatMap(({ functionCall, thoughtSignature }) =>
          functionCall === undefined ? [] : [[asObject(functionCall)['id'], thoughtSignature]],
        )
    fc.assert(
      fc.property(parts, (list) => {
        const answer = asObject(translation.answer(answerOf(list, 'STOP'), 0))
        const reply =
          client === 'Messages'
            ? { role: 'assistant', content: answer['content'] }
            : asObject(asObject(asArray(answer['choices'])[0])['message'])
        const messages = [{ role: 'user', content: 'hi' }, reply]
        const body = { model: 'gemini-2.5-flash', messages, ...(client === 'Messages' && { max_tokens: 9 }) }
        const sent = asArray(translation.request(body, notesIn([]))['contents'])
        expect(signaturesOf(asArray(asObject(sent[1])['parts']))).toEqual(signaturesOf(list))
      }),
      RUNS,
    )
  })
})

describe('any JSON schema', () => {
  const KNOWN = new Set(
    `anyOf default description enum example format items maxItems maxLength maxProperties maximum minItems minLength
     minProperties minimum nullable pattern properties propertyOrdering required title type`.split(/\s+/),
  )
  const names = fc.constantFrom('a', 'b', 'type', '$ref')
  const schemaOf = (depth: number): fc.Arbitrary<JsonObject> => {
    const leaf = {
      type: fc.constantFrom('object', 'array', 'string', 'null', 'integer', ['string', 'null']),
      required: fc.array(names, { maxLength: 2 }),
      $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/d', '#/items'),
      enum: fc.array(fc.constantFrom('x', 1, null), { maxLength: 3 }),
      const: fc.constantFrom('x', 1, null),
      additionalProperties: fc.boolean(),
    }
    if (depth === 0) return fc.record(leaf, { requiredKeys: [] })
    const below = schemaOf(depth - 1)
    return fc.record(
      {
        ...leaf,
        properties: fc.dictionary(names, below, { maxKeys: 2 }),
        items: below,
        anyOf: fc.array(below, { maxLength: 2 }),
        allOf: fc.array(below, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    )
  }
  const schema = schemaOf(2)

  /** Names that Google rejects. */
  function wrongIn(value: unknown): readonly string[] {
    const node = asObject(value)
    const below = [...asArray(node['anyOf']), ...Object.values(asObject(node['properties']))]
    const items = node['items'] === undefined ? [] : [node['items']]
    return [...Object.keys(node).filter((name) => !KNOWN.has(name)), ...[...below, ...items].flatMap(wrongIn)]
  }

  it('becomes one that Google accepts, or is refused', () => {
    fc.assert(
      fc.property(schema, schema, (root, d) => {
        try {
          expect(wrongIn(googleSchema({ ...root, $defs: { d } }, 'tools[0]', new SchemaBudget()))).toEqual([])
        } catch (error) {
          if (!(error instanceof Untranslatable)) throw error
        }
      }),
      RUNS,
    )
  })
})
