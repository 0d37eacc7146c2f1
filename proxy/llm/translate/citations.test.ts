// Where citations of an answer apply: each format counts in its own way, and some name no range at all.
import { describe, expect, it } from 'vitest'
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import { asString, type JsonObject } from '../json.ts'
import { ToolNames } from './tool-names.ts'
import { translationOf } from './translate.testing.ts'

const SOURCE = { id: 'r', model: 'm', names: new ToolNames() }
const A = 'https://a.example'
const B = 'https://b.example'

const answer = (client: FormatName, provider: SentFormatName, body: JsonObject): JsonObject | undefined =>
  translationOf(client, provider).answer(body, 7, SOURCE)

function streamed(client: FormatName, provider: SentFormatName, events: readonly JsonObject[]): string {
  const translator = translationOf(client, provider).stream({ createdSeconds: 7, includeUsage: false, source: SOURCE })
  const data = events.map((event) => ({ event: asString(event['type']) ?? '', data: JSON.stringify(event) }))
  return data.map((one) => translator.event(one)).join('') + translator.end()
}

/** Of all annotations in the text of a stream or an answer. */
function rangesIn(text: string): string[] {
  const found = text.matchAll(/"url":"([^"]+)"[^{}]*?"start_index":(\d+),"end_index":(\d+)/g)
  return [...found].map(([, url, start, end]) => `${url} ${start}-${end}`)
}

const cited = (url: string) => ({
  type: 'web_search_result_location',
  url,
  title: 't',
  cited_text: 'q',
  encrypted_index: 'e',
})

describe('citations of a text block of Claude', () => {
  const content = [
    { type: 'text', text: 'Größe: ' },
    { type: 'text', text: '😀 four', citations: [cited(A), cited(B)] },
    { type: 'text', text: '.' },
    { type: 'text', text: 'end', citations: [cited(A)] },
  ]
  const body = { id: 'm', type: 'message', role: 'assistant', model: 'c', content, stop_reason: 'end_turn' }
  const events = [
    { type: 'message_start', message: { id: 'm', model: 'c', usage: { input_tokens: 1 } } },
    ...content.flatMap(({ text, citations = [] }, index) => [
      { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      // In front of the text: its end is not known yet.
      ...citations.map((citation) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'citations_delta', citation },
      })),
      { type: 'content_block_delta', index, delta: { type: 'text_delta', text: text.slice(0, 2) } },
      { type: 'content_block_delta', index, delta: { type: 'text_delta', text: text.slice(2) } },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]

  it('cover the block in the content of chat completions', () => {
    const ranges = [`${A} 7-14`, `${B} 7-14`, `${A} 15-18`]
    expect(rangesIn(JSON.stringify(answer('Completions', 'Messages', body)))).toEqual(ranges)
    expect(rangesIn(streamed('Completions', 'Messages', events))).toEqual(ranges)
  })

  it('cover their own text in responses', () => {
    const ranges = [`${A} 0-7`, `${B} 0-7`, `${A} 0-3`]
    expect(rangesIn(JSON.stringify(answer('Responses', 'Messages', body)))).toEqual(ranges)
    const added = streamed('Responses', 'Messages', events)
      .split('\n\n')
      .filter((event) => event.includes('response.output_text.annotation.added'))
    expect(rangesIn(added.join('\n'))).toEqual(ranges)
  })

  it('are bytes for a client of Google', () => {
    const citations = [
      { uri: A, title: 't', startIndex: 9, endIndex: 18 },
      { uri: B, title: 't', startIndex: 9, endIndex: 18 },
      { uri: A, title: 't', startIndex: 19, endIndex: 22 },
    ]
    expect(answer('GenerateContent', 'Messages', body)).toMatchObject({
      candidates: [{ citationMetadata: { citations } }],
    })
    const sent = [...streamed('GenerateContent', 'Messages', events).matchAll(/"citations":\[([^\]]*)\]/g)]
    expect(sent.map(([, one]) => JSON.parse(one ?? '') as unknown)).toEqual(citations)
  })
})

describe('sources of a search of Gemini', () => {
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: A, title: 'a' } }, { web: { uri: B, title: 'b' } }, { web: { uri: 'https://c' } }],
    groundingSupports: [
      // "Größe" is 7 bytes; the format leaves out a start of 0.
      { segment: { endIndex: 7, text: 'Größe' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 8, endIndex: 17, text: '😀 four' }, groundingChunkIndices: [0, 1] },
    ],
  }
  const ranges = [`${A} 0-5`, `${A} 6-13`, `${B} 6-13`, 'https://c 0-13']
  const piece = (text: string, rest: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, ...rest }],
  })

  it('have the ranges of their segments', () => {
    const body = piece('Größe 😀 four', { finishReason: 'STOP', groundingMetadata })
    const sorted = rangesIn(JSON.stringify(answer('Completions', 'GenerateContent', body))).toSorted()
    expect(sorted).toEqual(ranges.toSorted())
  })

  it('have them in a stream, whose last piece names them', () => {
    const pieces = [piece('Grö'), piece('ße 😀 fo'), piece('ur', { finishReason: 'STOP', groundingMetadata })]
    expect(rangesIn(streamed('Completions', 'GenerateContent', pieces)).toSorted()).toEqual(ranges.toSorted())
  })

  it('cover the whole text if their segment is not in it', () => {
    const wrong = {
      ...groundingMetadata,
      groundingSupports: [{ segment: { endIndex: 99 }, groundingChunkIndices: [0] }],
    }
    const body = piece('Found.', { finishReason: 'STOP', groundingMetadata: wrong })
    expect(rangesIn(JSON.stringify(answer('Completions', 'GenerateContent', body)))[0]).toBe(`${A} 0-6`)
  })
})

it('ranges behind a text that is too long for ranges begin after all of its bytes', () => {
  const content = [
    { type: 'text', text: 'ß'.repeat(140_000), citations: [cited(A)] },
    { type: 'text', text: 'x', citations: [cited(B)] },
  ]
  const body = { id: 'm', type: 'message', role: 'assistant', model: 'c', content, stop_reason: 'end_turn' }
  expect(answer('GenerateContent', 'Messages', body)).toMatchObject({
    candidates: [
      {
        citationMetadata: {
          citations: [
            { uri: A, title: 't' },
            { uri: B, startIndex: 280_000, endIndex: 280_001 },
          ],
        },
      },
    ],
  })
})

it('citations of chat completions are bytes for a client of Google', () => {
  const annotations = [{ type: 'url_citation', url_citation: { url: A, title: 'a', start_index: 6, end_index: 13 } }]
  const body = {
    id: 'r',
    model: 'm',
    choices: [{ message: { role: 'assistant', content: 'Größe 😀 four', annotations }, finish_reason: 'stop' }],
  }
  expect(answer('GenerateContent', 'Completions', body)).toMatchObject({
    candidates: [{ citationMetadata: { citations: [{ uri: A, title: 'a', startIndex: 8, endIndex: 17 }] } }],
  })
})
