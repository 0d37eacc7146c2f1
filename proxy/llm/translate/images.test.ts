// Images that a model answers with: a client sends them back, and the vendor gets what it sent. What a client cannot
// get is named in log and trace.
import { expect, it } from 'vitest'
import { FORMATS } from '../formats/table.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import { conversionFrom } from './table.ts'
import { notesIn } from './translate.testing.ts'
import { ToolNames } from './tool-names.ts'
import type { Translation } from './translation.ts'
import { IMAGE_SCENARIO, VENDORS } from './vendors.testing.ts'

function translation(
  client: 'Completions' | 'Messages' | 'Responses',
  to: 'GenerateContent' | 'Messages',
): Translation {
  const found = conversionFrom(FORMATS[client], new Set([to]))?.translation
  if (found === undefined) throw new Error(`${client} is not translated to ${to}`)
  return found
}

const SOURCE = { id: 'r', model: 'm', names: new ToolNames() }
const DATA = '/9j/4AAQ'
const SIGNED = [
  { text: 'A cat:', thoughtSignature: 'c2lnMQ==' },
  { inlineData: { mimeType: 'image/jpeg', data: DATA }, thoughtSignature: 'c2lnMg==' },
]

function answerTo(client: 'Completions' | 'Responses'): JsonObject {
  const answer = { candidates: [{ content: { role: 'model', parts: SIGNED }, finishReason: 'STOP' }] }
  return translation(client, 'GenerateContent').answer(answer, 7, SOURCE) ?? {}
}

function sentBy(client: 'Completions' | 'Responses', body: JsonObject): unknown {
  const dropped: string[] = []
  const request = { model: 'gemini-3-pro-image', ...body }
  const { contents } = translation(client, 'GenerateContent').request(request, notesIn(dropped))
  return asObject(asArray(contents)[1])['parts']
}

it('an image comes back to Google with its signature from a client of chat completions', () => {
  const message = asObject(asObject(asArray(answerTo('Completions')['choices'])[0])['message'])
  expect(message['images']).toEqual([{ type: 'image_url', image_url: { url: `data:image/jpeg;base64,${DATA}` } }])
  const messages = [{ role: 'user', content: 'Draw' }, message, { role: 'user', content: 'Brighter' }]
  expect(sentBy('Completions', { messages })).toEqual(SIGNED)
})

it('an image comes back to Google with its signature from a client of responses', () => {
  const output = asArray(answerTo('Responses')['output'])
  expect(output.at(-1)).toMatchObject({ type: 'image_generation_call', output_format: 'jpeg', result: DATA })
  const input = [{ role: 'user', content: 'Draw' }, ...output, { role: 'user', content: 'Brighter' }]
  expect(sentBy('Responses', { input })).toEqual(SIGNED)
})

it('an image of a client without its format has the type of its data', () => {
  const input = [
    { role: 'user', content: 'Draw' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA },
    { type: 'image_generation_call', id: 'ig_2', status: 'failed', result: null },
  ]
  expect(sentBy('Responses', { input })).toEqual([{ inlineData: { mimeType: 'image/jpeg', data: DATA } }])
})

it('a request for images names the field to a provider without them', () => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }], modalities: ['image', 'text'] }
  expect(() => translation('Completions', 'Messages').request(request, notesIn([]))).toThrow('modalities')
})

it.each([
  ['Messages', 'GenerateContent', VENDORS.GenerateContent.whole(IMAGE_SCENARIO), 'answer.image'],
  [
    'Completions',
    'Messages',
    { type: 'message', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
    'answer.server_tool_use',
  ],
  [
    'Responses',
    'GenerateContent',
    { candidates: [{ content: { parts: [{ executableCode: { code: 'print(1)' } }] }, finishReason: 'STOP' }] },
    'answer.executableCode',
  ],
] as const)('what a client of %s does not get of %s is named', (client, to, answer, name) => {
  const dropped: string[] = []
  translation(client, to).answer(answer, 7, { ...SOURCE, notes: notesIn(dropped) })
  expect(dropped).toEqual([expect.stringContaining(`${name}: `)])
})
