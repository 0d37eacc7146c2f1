// Probabilities of tokens between the formats that have them: whole answers and streams.
import { describe, expect, it } from 'vitest'
import { SseParser } from '../../http/sse.ts'
import { asArray, asObject, parseObject, type JsonObject } from '../json.ts'
import { notesIn, translationOf } from './translate.testing.ts'

type Name = 'Completions' | 'Responses' | 'GenerateContent'

/** Tokens with the most probable ones in their place; the second one is a part of a character, with the third one. */
const STEPS = [
  {
    text: 'Hi ',
    token: 'Hi ',
    logprob: -0.25,
    bytes: [72, 105, 32],
    top: [
      ['Hi ', -0.25],
      ['Ho', -2],
    ],
  },
  { text: '', token: '\\xf0\\x9f', logprob: -1.5, bytes: [240, 159], top: [] },
  { text: '👋', token: '\\x91\\x8b', logprob: -0.125, bytes: [145, 139], top: [['👋', -3]] },
] as const

const bytesOf = (token: string): number[] => [...Buffer.from(token)]

const openAi = (steps: readonly (typeof STEPS)[number][]): JsonObject[] =>
  steps.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: [...bytes],
    top_logprobs: top.map(([other, chance]) => ({ token: other, logprob: chance, bytes: bytesOf(other) })),
  }))

/** Google sends no bytes. */
const google = (steps: readonly (typeof STEPS)[number][]): JsonObject => ({
  chosenCandidates: steps.map(({ token, logprob }) => ({ token, logProbability: logprob })),
  topCandidates: steps.map(({ top }) => ({
    candidates: top.map(([token, logProbability]) => ({ token, logProbability })),
  })),
})

const TEXT = STEPS.map(({ text }) => text).join('')
const sse = (json: object): string => `data: ${JSON.stringify(json)}\n\n`

interface Vendor {
  readonly whole: JsonObject
  readonly stream: readonly string[]
}

const part = { type: 'output_text', text: TEXT, annotations: [], logprobs: openAi(STEPS) }
const item = { id: 'm', type: 'message', role: 'assistant', status: 'completed', content: [part] }
const response = { id: 'r', object: 'response', status: 'completed', model: 'gpt', output: [item] }
const candidate = (text: string, steps: readonly (typeof STEPS)[number][], finishReason?: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, logprobsResult: google(steps), finishReason }],
})

const VENDORS: { readonly [N in Name]: Vendor } = {
  Completions: {
    whole: {
      id: 'c',
      model: 'gpt',
      choices: [{ index: 0, message: { content: TEXT }, logprobs: { content: openAi(STEPS) }, finish_reason: 'stop' }],
    },
    stream: [
      ...STEPS.map((step) =>
        sse({ choices: [{ index: 0, delta: { content: step.text }, logprobs: { content: openAi([step]) } }] }),
      ),
      sse({ choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] }),
      'data: [DONE]\n\n',
    ],
  },
  Responses: {
    whole: response,
    stream: [
      ...STEPS.map((step) => ({ type: 'response.output_text.delta', delta: step.text, logprobs: openAi([step]) })),
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response },
    ].map(sse),
  },
  GenerateContent: {
    whole: candidate(TEXT, STEPS, 'STOP'),
    stream: [candidate('Hi ', STEPS.slice(0, 1)), candidate('👋', STEPS.slice(1), 'STOP')].map(sse),
  },
}

const NAMES: readonly Name[] = ['Completions', 'Responses', 'GenerateContent']
const PAIRS = NAMES.flatMap((client) => NAMES.filter((to) => to !== client).map((to) => [client, to] as const))

function objectsIn(data: string): JsonObject[] {
  const json = parseObject(data)
  return json === undefined ? [] : [json]
}

/** In the form of the client. */
function logprobsIn(client: Name, json: JsonObject): readonly unknown[] {
  if (client === 'Completions') return asArray(asObject(asObject(asArray(json['choices'])[0])['logprobs'])['content'])
  if (client === 'Responses')
    return asArray(asObject(asArray(asObject(asArray(json['output'])[0])['content'])[0])['logprobs'])
  const { chosenCandidates, topCandidates } = asObject(asObject(asArray(json['candidates'])[0])['logprobsResult'])
  return asArray(chosenCandidates).map((chosen, index) => [chosen, asArray(topCandidates)[index] ?? { candidates: [] }])
}

function expected(client: Name, to: Name): unknown[] {
  const { chosenCandidates, topCandidates } = google(STEPS)
  if (client === 'GenerateContent')
    return asArray(chosenCandidates).map((one, index) => [one, asArray(topCandidates)[index]])
  const tokens = openAi(STEPS)
  // The bytes of the text stand for those that the provider does not send.
  return to === 'GenerateContent' ? tokens.map((one) => ({ ...one, bytes: bytesOf(String(one['token'])) })) : tokens
}

describe.each(PAIRS)('a client of %s and a provider of %s', (client, to) => {
  const translation = translationOf(client, to)

  it('a whole answer has the probabilities of its tokens', () => {
    const answer = translation.answer(VENDORS[to].whole, 7)
    expect(logprobsIn(client, answer ?? {})).toEqual(expected(client, to))
  })

  it('a stream has them beside the texts', () => {
    const translator = translation.stream({ createdSeconds: 7, includeUsage: false })
    const events = new SseParser(1_000_000).push(Buffer.from(VENDORS[to].stream.join('')))
    const text = events.map((event) => translator.event(event)).join('') + translator.end()
    const sent = new SseParser(1_000_000).push(Buffer.from(text)).flatMap(({ data }) => objectsIn(data))
    const deltas = client === 'Responses' ? sent.filter(({ type }) => type === 'response.output_text.delta') : sent
    const found = deltas.flatMap((json) =>
      client === 'Responses' ? asArray(json['logprobs']) : logprobsIn(client, json),
    )
    expect(found).toEqual(expected(client, to))
    const last = asObject(sent.at(-1)?.['response'])
    if (client === 'Responses') expect(logprobsIn(client, last)).toEqual(found)
  })

  it('an answer without them has none', () => {
    const answer = JSON.stringify(VENDORS[to].whole, (name, value: unknown) =>
      name === 'logprobs' || name === 'logprobsResult' ? undefined : value,
    )
    expect(logprobsIn(client, translation.answer(parseObject(answer) ?? {}, 7) ?? {})).toEqual([])
  })
})

const ASKED: { readonly [N in Name]: (top: number) => JsonObject } = {
  Completions: (top) => ({ messages: [{ role: 'user', content: 'hi' }], logprobs: true, top_logprobs: top }),
  Responses: (top) => ({ input: 'hi', include: ['message.output_text.logprobs'], top_logprobs: top }),
  GenerateContent: (top) => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { responseLogprobs: true, logprobs: top },
  }),
}

const SENT: { readonly [N in Name]: (top: number) => JsonObject } = {
  Completions: (top) => ({ logprobs: true, ...(top > 0 && { top_logprobs: top }) }),
  Responses: (top) => ({ include: ['message.output_text.logprobs'], ...(top > 0 && { top_logprobs: top }) }),
  GenerateContent: (top) => ({ generationConfig: { responseLogprobs: true, ...(top > 0 && { logprobs: top }) } }),
}

it.each(PAIRS.flatMap((pair) => [0, 3].map((top) => [...pair, top] as const)))(
  'a request of %s for them reaches %s with %d alternatives',
  (client, to, top) => {
    const dropped: string[] = []
    const sent = translationOf(client, to).request({ model: 'm', ...ASKED[client](top) }, notesIn(dropped))
    expect(sent).toMatchObject(SENT[to](top))
    expect(Object.hasOwn(sent, 'top_logprobs')).toBe(to !== 'GenerateContent' && top > 0)
    expect(dropped).toEqual([])
  },
)

it('encrypted reasoning and probabilities are requested together', () => {
  const fields = { ...ASKED.Completions(1), reasoning_effort: 'low' }
  expect(translationOf('Completions', 'Responses').request({ model: 'm', ...fields }, notesIn([]))).toMatchObject({
    include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  })
})
