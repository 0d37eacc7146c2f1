// Conversations in the shape of each format, as its documentation shows them: a request of a client as every other
// provider gets it, and an answer of a provider as every other client gets it. UPDATE_GOLDEN=1 writes the outputs.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isRecord } from '#api/json.ts'
import { compareGolden, goldenFolder, readGolden, removeOrphans } from '#test/golden.ts'
import { FORMATS } from '../formats/table.ts'
import { asArray, asObject, asString, parseExactObject, type JsonObject } from '../json.ts'
import { conversionFrom } from './table.ts'
import { ToolNames } from './tool-names.ts'
import { notesIn } from './translate.testing.ts'
import type { Translation } from './translation.ts'
import { Untranslatable } from './untranslatable.ts'
import type { VendorName } from './vendors.testing.ts'

const CASES_MIN = 40
const ROOT = join(import.meta.dirname, 'testdata')

const CLIENTS: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']
const PROVIDERS = [...CLIENTS, 'Converse'] as const
type ProviderName = (typeof PROVIDERS)[number]

/** What is the same in all requests and answers of a format, so that the files have only what differs. */
interface Frame {
  /** undefined: no client has the format. */
  readonly request: JsonObject | undefined
  readonly answer: (answer: JsonObject) => JsonObject
}

const FRAMES: { readonly [N in ProviderName]: Frame } = {
  Completions: {
    request: { model: 'm' },
    answer: ({ finish_reason = 'stop', usage, ...message }) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 7,
      model: 'gpt',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason }],
      usage: usage ?? { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    }),
  },
  Messages: {
    request: { model: 'm', max_tokens: 8192 },
    answer: ({ content, stop_reason = 'end_turn', stop_sequence = null, usage }) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content,
      stop_reason,
      stop_sequence,
      usage: usage ?? { input_tokens: 9, output_tokens: 3 },
    }),
  },
  Responses: {
    request: { model: 'm' },
    answer: ({ output, status = 'completed', ...rest }) => ({
      id: 'resp_1',
      object: 'response',
      created_at: 7,
      model: 'gpt',
      status,
      output,
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
      ...rest,
    }),
  },
  GenerateContent: {
    request: { model: 'm', stream: false },
    answer: ({ parts, finishReason = 'STOP', usageMetadata, ...candidate }) => ({
      candidates: [{ content: { role: 'model', parts }, finishReason, index: 0, ...candidate }],
      usageMetadata: usageMetadata ?? { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
      modelVersion: 'gemini',
      responseId: 'resp-1',
    }),
  },
  Converse: {
    request: undefined,
    answer: ({ content, stopReason = 'end_turn', usage, ...rest }) => ({
      output: { message: { role: 'assistant', content } },
      stopReason,
      usage: usage ?? { inputTokens: 9, outputTokens: 3, totalTokens: 12 },
      metrics: { latencyMs: 7 },
      ...rest,
    }),
  },
}

/** Id and model are outside of the answer. */
const SOURCE = { id: 'req-1', model: 'claude', names: new ToolNames() }

function translationOf(client: VendorName, provider: ProviderName): Translation | undefined {
  return conversionFrom(FORMATS[client], new Set([provider]))?.translation
}

/** As it comes over the network. */
const received = (json: JsonObject): JsonObject => parseExactObject(JSON.stringify(json)) ?? {}

function sent(translation: Translation, request: JsonObject): string {
  const dropped: string[] = []
  try {
    const body = JSON.stringify(translation.request(received(request), notesIn(dropped)))
    const fields = dropped.map((line) => line.split(': ')[0])
    return fields.length === 0 ? body : `${body} without ${fields.join(', ')}`
  } catch (error) {
    if (error instanceof Untranslatable) return `400 ${error.message}`
    throw error
  }
}

function linesOf(name: ProviderName, { request, answer }: JsonObject): readonly string[] {
  const lines: string[] = []
  const frame = FRAMES[name]
  for (const to of PROVIDERS) {
    const translation = name === 'Converse' ? undefined : translationOf(name, to)
    if (isRecord(request) && translation !== undefined) {
      lines.push(`${to} gets ${sent(translation, { ...frame.request, ...request })}`)
    }
  }
  for (const client of CLIENTS) {
    const translation = translationOf(client, name)
    if (isRecord(answer) && translation !== undefined) {
      const whole = received(frame.answer(answer))
      lines.push(
        `${client} sees ${JSON.stringify(translation.answer(whole, 7, name === 'Converse' ? SOURCE : undefined) ?? 'no answer of the format')}`,
      )
    }
  }
  return lines
}

describe('conversations', () => {
  const folder = goldenFolder(ROOT)

  it('have no output without an input', () => {
    expect(removeOrphans(ROOT, folder)).toEqual([])
    expect(folder.cases.map(({ name }) => name).toSorted()).toEqual([...PROVIDERS].toSorted())
  })

  it.each(PROVIDERS)('of %s', (name) => {
    const golden = folder.cases.find((one) => one.name === name)
    if (golden === undefined) throw new Error(`no ${name}`)
    const cases = asArray(readGolden(golden.inputPath).documents[0]).map(asObject)
    const names = cases.map((one) => asString(one['name']) ?? '')
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(CASES_MIN)
    const output = Object.fromEntries(cases.map((one, at) => [names[at], `${linesOf(name, one).join('\n')}\n`]))
    const { expected, actual } = compareGolden(golden, output)
    expect(actual).toBe(expected)
  })
})
