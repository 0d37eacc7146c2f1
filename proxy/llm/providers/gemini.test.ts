// Paths of the Gemini API, and where its key goes.
import { describe, expect, it } from 'vitest'
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import { HeaderList } from '../../message/headers.ts'
import { SENT_FORMATS } from '../formats/table.ts'
import { gemini } from './gemini.ts'

describe('the path of a Gemini model', () => {
  it.each<[string, boolean, string | undefined, string]>([
    ['gemini-3-pro', false, undefined, '/v1beta/models/gemini-3-pro:generateContent'],
    ['gemini-3-pro', true, undefined, '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse'],
    ['models/gemini-3-pro', false, undefined, '/v1beta/models/gemini-3-pro:generateContent'],
    ['tunedModels/own', false, undefined, '/v1beta/tunedModels/own:generateContent'],
    ['gemini-3-pro', false, '/google/', '/google/v1beta/models/gemini-3-pro:generateContent'],
    ['../../secret?x=#y', false, undefined, '/v1beta/models/..%2F..%2Fsecret%3Fx%3D%23y:generateContent'],
  ])('%s, stream %s, prefix %s', (model, isStreaming, prefix, path) => {
    expect(gemini.paths({}, prefix)(SENT_FORMATS.GenerateContent, model, isStreaming)).toBe(path)
  })
})

describe('the key of the Gemini API', () => {
  it.each<[string, SentFormatName | undefined, boolean, string | undefined, string | undefined]>([
    ['Bearer AIza1', 'GenerateContent', false, 'AIza1', undefined],
    ['bearer  Bearer AIza1', 'GenerateContent', false, 'AIza1', undefined],
    ['Bearer ya29.oauth', 'GenerateContent', false, undefined, 'Bearer ya29.oauth'],
    ['Bearer AIza1', 'GenerateContent', true, undefined, 'Bearer AIza1'],
    ['Bearer AIza1', 'Completions' satisfies FormatName, false, undefined, 'Bearer AIza1'],
    ['Bearer AIza1', undefined, false, undefined, 'Bearer AIza1'],
  ])('%s for %s', (given, sent, isExplicit, key, authorization) => {
    const headers = HeaderList.of([['authorization', given]])
    gemini.prepareHeaders(headers, isExplicit ? 'Placed' : 'Key', sent && SENT_FORMATS[sent])
    expect([headers.get('x-goog-api-key'), headers.get('authorization')]).toEqual([key, authorization])
  })
})
