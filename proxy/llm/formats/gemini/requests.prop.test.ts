// Properties of requests of Gemini clients: the canonical form restores them, and values of any type do no harm.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { parseExactObject, type JsonObject } from '../../json.ts'
import { notesIn } from '../../translate/translate.testing.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { geminiChat } from './chat.ts'
import { jsonSchema } from './decode-schema.ts'
import { googleSchema, SchemaBudget } from './schema.ts'

const RUNS = { numRuns: runs(500) }

const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => `.${value}`)
const word = fc.stringMatching(/^[a-z]{1,10}$/)
const json = fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const some = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(members, { requiredKeys: [] })

const leaf = some({ title: word, description: text, nullable: fc.constant(true), minimum: fc.nat() })
const typed = leaf.map((fields) => ({ ...fields, type: 'INTEGER' }))
const schema: fc.Arbitrary<JsonObject> = fc.oneof(
  typed,
  leaf.map((fields) => ({ ...fields, type: 'ARRAY', items: { type: 'STRING', enum: ['x'] }, minItems: 1 })),
  fc
    .dictionary(word, typed, { minKeys: 1, maxKeys: 3 })
    .map((properties) => ({ type: 'OBJECT', properties, required: Object.keys(properties) })),
)

const textPart = text.map((value) => ({ text: value }))
const media = fc.base64String({ minLength: 4, maxLength: 12 }).map((data) => ({ mimeType: 'image/png', data }))
const userPart = fc.oneof(
  textPart,
  media.map((inlineData) => ({ inlineData })),
  word.map((name) => ({ fileData: { fileUri: `https://x.example/${name}.pdf`, mimeType: 'application/pdf' } })),
)
const thought = fc
  .tuple(text, word)
  .map(([value, thoughtSignature]) => ({ text: value, thought: true, thoughtSignature }))
const signed = some({ thoughtSignature: word })

interface Round {
  readonly user: readonly JsonObject[]
  readonly thoughts: readonly JsonObject[]
  readonly said: readonly JsonObject[]
  readonly calls: readonly (readonly [name: string, args: JsonObject, signed: JsonObject, output: string])[]
}

const round: fc.Arbitrary<Round> = fc.record({
  user: fc.array(userPart, { minLength: 1, maxLength: 3 }),
  thoughts: fc.array(thought, { maxLength: 1 }),
  said: fc.array(
    fc.tuple(textPart, signed).map(([part, signature]) => ({ ...part, ...signature })),
    { maxLength: 1 },
  ),
  calls: fc.array(fc.tuple(word, json, signed, text), { maxLength: 3 }),
})

/** Calls have ids of their own, and each of them has its result. */
function contentsOf(rounds: readonly Round[]): readonly JsonObject[] {
  return rounds.flatMap(({ user, thoughts, said, calls }, at) => {
    const id = (index: number): string => `c${at}_${index}`
    const functionCalls = calls.map(([name, args, signature], index) => ({
      functionCall: { id: id(index), name, args },
      ...signature,
    }))
    const results = calls.map(([name, , , output], index) => ({
      functionResponse: { id: id(index), name, response: { output } },
    }))
    return [
      { role: 'user', parts: user },
      { role: 'model', parts: [...thoughts, ...(said.length === 0 ? [{ text: 'x' }] : said), ...functionCalls] },
      ...(results.length === 0
        ? []
        : [
            { role: 'user', parts: results },
            { role: 'model', parts: [{ text: 'y' }] },
          ]),
    ]
  })
}

const config = some({
  maxOutputTokens: fc.integer({ min: 1, max: 9999 }),
  temperature: share,
  topP: share,
  topK: fc.integer({ min: 1, max: 40 }),
  seed: fc.integer(),
  frequencyPenalty: share,
  presencePenalty: share,
  stopSequences: fc.array(text, { minLength: 1, maxLength: 3 }),
  thinkingConfig: fc.record({
    thinkingBudget: fc.integer({ min: 1, max: 20_000 }),
    includeThoughts: fc.constant(true),
  }),
}).chain((fields) =>
  fc.oneof(
    fc.constant(fields),
    fc.constant({ ...fields, responseMimeType: 'application/json' }),
    schema.map((responseSchema) => ({ ...fields, responseMimeType: 'application/json', responseSchema })),
  ),
)

const request: fc.Arbitrary<JsonObject> = fc
  .record({
    rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
    generationConfig: config,
    more: some({
      systemInstruction: text.map((value) => ({ parts: [{ text: value }] })),
      serviceTier: fc.constantFrom('standard', 'flex', 'priority'),
      tools: fc
        .uniqueArray(word, { minLength: 1, maxLength: 3 })
        .chain((names) => fc.tuple(...names.map((name) => schema.map((parameters) => ({ name, parameters })))))
        .map((list) => [{ functionDeclarations: list.filter(({ parameters: { type } }) => type === 'OBJECT') }])
        .filter(([tool]) => (tool?.functionDeclarations.length ?? 0) > 0),
    }),
  })
  .map(({ rounds, generationConfig, more }) => ({
    contents: contentsOf(rounds),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...more,
  }))

const received = (value: unknown): JsonObject => parseExactObject(JSON.stringify(value)) ?? {}

const NAMES = `contents parts role text functionCall function_response name args response tools functionDeclarations
  parameters generationConfig thinkingConfig responseSchema systemInstruction toolConfig functionCallingConfig mode type
  properties items anyOf inlineData fileData mimeType data fileUri thought thoughtSignature __proto__`.split(/\s+/)

describe('a request of a Gemini client', () => {
  it('is restored by the canonical form', () => {
    fc.assert(
      fc.property(request, (body) => {
        const dropped: string[] = []
        const decoded = geminiChat.decodeRequest({ ...received(body), model: 'gemini-2.5-flash' }, notesIn(dropped))
        expect(received(geminiChat.encodeRequest(decoded, notesIn(dropped)))).toEqual(received(body))
        expect(dropped).toEqual([])
      }),
      RUNS,
    )
  })

  it('is translated or rejected, whatever its fields are', () => {
    const names = fc.constantFrom(...NAMES)
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue({ maxDepth: 0 }),
        fc.constantFrom('user', 'model', 'OBJECT', 'ANY', 'image/png'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(names, tree, { maxKeys: 5 }), (body) => {
        try {
          const decoded = geminiChat.decodeRequest(received(body), notesIn([]))
          expect(decoded.turns.every(({ parts }) => parts.length > 0)).toBe(true)
        } catch (error) {
          if (!(error instanceof Untranslatable)) throw error
        }
      }),
      RUNS,
    )
  })

  it('with a schema keeps its meaning through JSON Schema', () => {
    fc.assert(
      fc.property(schema, (value) => {
        expect(received(googleSchema(jsonSchema(value, 'at'), 'at', new SchemaBudget()))).toEqual(received(value))
      }),
      RUNS,
    )
  })
})
