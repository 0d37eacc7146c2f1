// The SDK of Google as a client, for tests.
import { type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai'
import { asArray, asObject, parseObject } from '../json.ts'
import { type Client, framesOf, type SeenAnswer } from './client.testing.ts'

export const geminiClient: Client = {
  stops: { stop: 'STOP', length: 'MAX_TOKENS', toolCalls: 'STOP' },
  async read(answer, isStream) {
    const { models } = new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch: () => Promise.resolve(answer) } })
    const request = { model: 'm', contents: 'hi' }
    if (!isStream) return seenOf([await models.generateContent(request)])
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk)
    return seenOf(chunks)
  },
  grammar(text) {
    const chunks = framesOf(text).map(({ event, data }) => {
      if (event !== '') throw new Error(`event ${event}`)
      return parseObject(data) ?? {}
    })
    const candidates = chunks.map((chunk) => asObject(asArray(chunk['candidates'])[0]))
    if (candidates.some(({ content }) => asArray(asObject(content)['parts']).length === 0)) throw new Error('no part')
    const ends = candidates.flatMap(({ finishReason }, at) => (finishReason === undefined ? [] : [at]))
    if (ends.length !== 1 || ends[0] !== chunks.length - 1) throw new Error(`finishReason in ${ends.join()}`)
    if (chunks.some((chunk) => chunk['responseId'] !== chunks[0]?.['responseId'])) throw new Error('another responseId')
  },
}

function seenOf(chunks: readonly GenerateContentResponse[]): SeenAnswer {
  const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
  const texts = (isThought: boolean): string =>
    parts.map((part) => ((part.thought ?? false) === isThought ? (part.text ?? '') : '')).join('')
  const images = parts.flatMap(({ inlineData }) => inlineData?.data ?? [])
  const last = chunks.at(-1)
  const { promptTokenCount, cachedContentTokenCount, candidatesTokenCount, thoughtsTokenCount } =
    last?.usageMetadata ?? {}
  return {
    reasoning: texts(true),
    text: texts(false),
    ...(images.length > 0 && { images }),
    calls: parts.flatMap(callOf),
    stop: last?.candidates?.[0]?.finishReason ?? '',
    input: promptTokenCount ?? -1,
    cached: cachedContentTokenCount ?? 0,
    output: (candidatesTokenCount ?? -1) + (thoughtsTokenCount ?? 0),
  }
}

function callOf({ functionCall }: Part): SeenAnswer['calls'] {
  if (functionCall === undefined) return []
  const { id = '', name = '', args: input } = functionCall
  return [{ id, name, input }]
}
