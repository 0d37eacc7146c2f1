// Every field of an answer that the SDK of Google declares is mapped or dropped for a reason: a mapped field has an
// effect on the canonical answer or on the facts of the call, a dropped one has none.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json.ts'
import { emptyFacts } from '../../usage.ts'
import { declaredMembers } from '../declared.testing.ts'
import { decodeAnswer } from './decode-answer.ts'
import { generateContent } from './generate-content.ts'
import { GENAI_DECLARATIONS as SDK } from './sdk.testing.ts'

type Rule = 'mapped' | { readonly dropped: string }
const NOT_ASKED: Rule = { dropped: 'of a feature that translated requests cannot ask for' }
const REPORT: Rule = { dropped: 'a report about how the vendor served the request' }
const OF_SDK: Rule = { dropped: 'the SDK adds it' }
const SPLIT: Rule = { dropped: 'splits a count that is mapped' }
const FIRST_ONLY: Rule = { dropped: 'there is one candidate' }

const ANSWER: JsonObject = {
  sdkHttpResponse: {},
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { text: 'hi' },
          {
            functionCall: { id: 'c1', name: 'f', args: { a: 1 }, partialArgs: [{}], willContinue: true },
            thoughtSignature: 's',
          },
          { inlineData: { mimeType: 'image/png', data: 'QUJD' } },
          { text: 'end' },
        ],
      },
      citationMetadata: { citations: [{ uri: 'https://x.example', title: 't', startIndex: 1 }] },
      groundingMetadata: { groundingChunks: [{ web: { uri: 'https://y.example', title: 'u', domain: 'd' } }] },
      finishMessage: 'm',
      tokenCount: 1,
      finishReason: 'MAX_TOKENS',
      avgLogprobs: 1,
      index: 0,
      logprobsResult: { chosenCandidates: [{ token: 'end', logProbability: -1 }] },
      safetyRatings: [{}],
      urlContextMetadata: {},
      continuationToken: 'c',
    },
  ],
  createTime: 'now',
  automaticFunctionCallingHistory: [],
  modelVersion: 'gemini-3-pro',
  promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'm', safetyRatings: [] },
  responseId: 'r',
  usageMetadata: {
    cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 1 }],
    cachedContentTokenCount: 1,
    candidatesTokenCount: 2,
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 1 }],
    promptTokenCount: 3,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 1 }],
    thoughtsTokenCount: 4,
    toolUsePromptTokenCount: 5,
    toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
    totalTokenCount: 14,
    trafficType: 'ON_DEMAND',
    initialPromptTokenCount: 3,
  },
  modelStatus: {},
}

const BLOCKED: JsonObject = { promptFeedback: ANSWER['promptFeedback'], responseId: 'r' }

interface Described {
  readonly name: string
  readonly at: readonly (string | number)[]
  readonly fields: Readonly<Record<string, Rule>>
  readonly sample?: JsonObject
}

const CANDIDATE = ['candidates', 0]
const PARTS = [...CANDIDATE, 'content', 'parts']

const OBJECTS: readonly Described[] = [
  {
    name: 'GenerateContentResponse',
    at: [],
    fields: {
      sdkHttpResponse: OF_SDK,
      candidates: 'mapped',
      createTime: REPORT,
      automaticFunctionCallingHistory: OF_SDK,
      modelVersion: 'mapped',
      promptFeedback: { dropped: 'without effect beside an answer' },
      responseId: 'mapped',
      usageMetadata: 'mapped',
      modelStatus: REPORT,
    },
  },
  {
    name: 'GenerateContentResponsePromptFeedback',
    at: ['promptFeedback'],
    sample: BLOCKED,
    fields: { blockReason: 'mapped', blockReasonMessage: REPORT, safetyRatings: REPORT },
  },
  {
    name: 'Candidate',
    at: CANDIDATE,
    fields: {
      content: 'mapped',
      citationMetadata: 'mapped',
      finishMessage: REPORT,
      tokenCount: REPORT,
      finishReason: 'mapped',
      groundingMetadata: 'mapped',
      avgLogprobs: NOT_ASKED,
      index: FIRST_ONLY,
      logprobsResult: 'mapped',
      safetyRatings: REPORT,
      urlContextMetadata: NOT_ASKED,
      continuationToken: NOT_ASKED,
    },
  },
  {
    name: 'FunctionCall',
    at: [...PARTS, 2, 'functionCall'],
    fields: { args: 'mapped', id: 'mapped', name: 'mapped', partialArgs: NOT_ASKED, willContinue: NOT_ASKED },
  },
  {
    name: 'GroundingChunkWeb',
    at: [...CANDIDATE, 'groundingMetadata', 'groundingChunks', 0, 'web'],
    fields: { domain: REPORT, title: 'mapped', uri: 'mapped' },
  },
  {
    name: 'GenerateContentResponseUsageMetadata',
    at: ['usageMetadata'],
    fields: {
      cacheTokensDetails: SPLIT,
      cachedContentTokenCount: 'mapped',
      candidatesTokenCount: 'mapped',
      candidatesTokensDetails: 'mapped',
      promptTokenCount: 'mapped',
      promptTokensDetails: 'mapped',
      thoughtsTokenCount: 'mapped',
      toolUsePromptTokenCount: 'mapped',
      toolUsePromptTokensDetails: SPLIT,
      totalTokenCount: 'mapped',
      trafficType: REPORT,
      initialPromptTokenCount: REPORT,
    },
  },
]

/** All that the gateway reads. */
function read(answer: JsonObject): string {
  const facts = emptyFacts('gcp.gemini')
  generateContent.observe(facts, answer)
  return JSON.stringify([decodeAnswer(answer), facts])
}

function without(sample: JsonObject, at: readonly (string | number)[], field: string): JsonObject {
  const copy = structuredClone(sample)
  let object: JsonObject = copy
  // The places are those of the sample.
  for (const step of at) object = object[step] as JsonObject
  if (!Object.hasOwn(object, field)) throw new Error(`the sample has no ${field}`)
  delete object[field]
  return copy
}

describe('the ledger of GenerateContent answers', () => {
  it.each(OBJECTS)('$name', ({ name, at, fields, sample = ANSWER }) => {
    expect(declaredMembers(SDK, name).filter((one) => !Object.hasOwn(fields, one))).toEqual([])
    const effects = Object.keys(fields).map((field) => [field, read(without(sample, at, field)) !== read(sample)])
    const expected = Object.entries(fields).map(([field, rule]) => [field, rule === 'mapped'])
    expect(Object.fromEntries(effects)).toEqual(Object.fromEntries(expected))
  })

  it.each([
    [0, 'thought'],
    [1, 'text'],
    [2, 'functionCall'],
    [2, 'thoughtSignature'],
    [3, 'inlineData'],
  ])('part %d reads %s', (part, field) => {
    expect(read(without(ANSWER, [...PARTS, part], field))).not.toBe(read(ANSWER))
  })
})

describe('the reason for the end', () => {
  const declared = /export declare enum FinishReason \{([^}]*)\}/.exec(SDK)?.[1] ?? ''
  const reasons = [...declared.matchAll(/(\w+) = "/g)].map(([, name = '']) => name)
  const reasonOf = (finishReason: string, parts: readonly JsonObject[]): unknown =>
    decodeAnswer({ candidates: [{ content: { parts }, finishReason }] })?.at(-1)

  it('is known for each that the SDK declares', () => {
    const kinds = new Map(reasons.map((name) => [name, reasonOf(name, [])]))
    expect(Object.fromEntries(kinds)).toMatchObject({
      FINISH_REASON_UNSPECIFIED: { kind: 'error' },
      STOP: { reason: 'stop' },
      MAX_TOKENS: { reason: 'length' },
      OTHER: { reason: 'stop' },
      CONTINUATION: { reason: 'pause' },
    })
    const filtered = reasons.filter((name) => JSON.stringify(kinds.get(name)).includes('"contentFilter"'))
    expect(filtered).toEqual(reasons.filter((name) => /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII/.test(name)))
    expect(filtered.length).toBeGreaterThan(6)
  })

  it('is a call if the model made one, and the answer is complete', () => {
    const parts = [{ functionCall: { name: 'f' } }]
    expect([reasonOf('STOP', parts), reasonOf('MAX_TOKENS', parts)]).toMatchObject([
      { reason: 'toolCalls' },
      { reason: 'length' },
    ])
  })
})

describe('token counts', () => {
  it.each([
    ['thoughts apart', { candidatesTokenCount: 4, totalTokenCount: 17 }],
    ['thoughts within the output', { candidatesTokenCount: 7, totalTokenCount: 17 }],
    ['no total', { candidatesTokenCount: 4 }],
  ])('with %s', (_, counts) => {
    const facts = emptyFacts('gcp.gemini')
    const usage = { promptTokenCount: 10, cachedContentTokenCount: 6, thoughtsTokenCount: 3, ...counts }
    generateContent.observe(facts, { modelVersion: 'gemini-3-pro', usageMetadata: usage })
    expect(facts).toMatchObject({
      responseModel: 'gemini-3-pro',
      inputTokens: 10,
      cachedInputTokens: 6,
      outputTokens: 7,
      reasoningTokens: 3,
      totalTokens: 17,
    })
  })

  it.each<[JsonObject, boolean]>([
    [{ text: 'a' }, true],
    [{ functionCall: { name: 'f' } }, true],
    [{ text: '', thoughtSignature: 's' }, false],
  ])('an event with %j has content: %s', (part, expected) => {
    expect(generateContent.hasContent({ candidates: [{ content: { parts: [part] } }] })).toBe(expected)
  })
})
