// Why an answer ended, in the words of each format (data-plane supplement section 3.9), and its errors.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { asArray, asObject, parseExactObject, type JsonObject } from '../json.ts'
import { framesOf } from './client.testing.ts'
import { translationOf } from './translate.testing.ts'

const completion = (reason: string, message: object = { content: 'x' }): JsonObject => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: reason }],
})
const message = (reason: string, sequence: string | null = null): JsonObject => ({
  id: 'm',
  model: 'm',
  content: [{ type: 'text', text: 'x' }],
  stop_reason: reason,
  stop_sequence: sequence,
})
const response = (status: string, reason?: string): JsonObject => ({
  id: 'r',
  model: 'm',
  status,
  incomplete_details: reason === undefined ? null : { reason },
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'x' }] }],
})

/** The reason in an answer of each format. */
function reasonIn(json: JsonObject | undefined): unknown {
  const { choices, stop_reason: stop, stop_sequence: sequence, status, incomplete_details: incomplete } = json ?? {}
  if (choices !== undefined) return asObject(asArray(choices)[0])['finish_reason']
  if (stop !== undefined) return [stop, sequence].filter((one) => typeof one === 'string').join(' ')
  const { reason } = asObject(incomplete)
  return typeof reason === 'string' ? `${String(status)} ${reason}` : status
}

const TABLE: readonly (readonly [FormatName, FormatName, JsonObject, string])[] = [
  ['Completions', 'Messages', message('end_turn'), 'stop'],
  ['Completions', 'Messages', message('stop_sequence', 'END'), 'stop'],
  ['Completions', 'Messages', message('pause_turn'), 'stop'],
  ['Completions', 'Messages', message('max_tokens'), 'length'],
  ['Completions', 'Messages', message('model_context_window_exceeded'), 'length'],
  ['Completions', 'Messages', message('tool_use'), 'tool_calls'],
  ['Completions', 'Messages', message('refusal'), 'content_filter'],
  ['Messages', 'Completions', completion('stop'), 'end_turn'],
  ['Messages', 'Completions', completion('length'), 'max_tokens'],
  ['Messages', 'Completions', completion('tool_calls'), 'tool_use'],
  ['Messages', 'Completions', completion('function_call'), 'tool_use'],
  ['Messages', 'Completions', completion('content_filter'), 'end_turn'],
  ['Messages', 'Responses', response('completed'), 'end_turn'],
  ['Messages', 'Responses', response('incomplete', 'max_output_tokens'), 'max_tokens'],
  ['Messages', 'Responses', response('incomplete', 'content_filter'), 'end_turn'],
  ['Responses', 'Completions', completion('stop'), 'completed'],
  ['Responses', 'Completions', completion('length'), 'incomplete max_output_tokens'],
  ['Responses', 'Completions', completion('content_filter'), 'incomplete content_filter'],
  ['Responses', 'Messages', message('pause_turn'), 'completed'],
  ['Responses', 'Messages', message('model_context_window_exceeded'), 'incomplete max_output_tokens'],
  ['Responses', 'Messages', message('refusal'), 'incomplete content_filter'],
]

describe('the reason of the end', () => {
  it.each(TABLE)('%s from %s: %j is %s', (from, to, answer, expected) => {
    expect(reasonIn(translationOf(from, to).answer(answer, 0))).toBe(expected)
  })

  it('is a refusal where a stream to a client of messages was filtered', () => {
    const options = { createdSeconds: 0, includeUsage: false }
    const stream = translationOf('Messages', 'Completions').answerAsStream(completion('content_filter'), options)
    const delta = framesOf(stream).find(({ event }) => event === 'message_delta')
    expect(asObject(parseExactObject(delta?.data ?? '')?.['delta'])['stop_reason']).toBe('refusal')
  })

  it('of a response that failed is not an answer', () => {
    const failed = { ...response('failed'), error: { code: 'server_error', message: 'no' } }
    expect(translationOf('Messages', 'Responses').answer(failed, 0)).toBeUndefined()
  })
})

const openAi = (type: string | null, code: string | null = null): JsonObject => ({
  error: { message: 'x', type, code },
})
const anthropic = (type: string): JsonObject => ({ type: 'error', error: { type, message: 'x' } })

describe('an error', () => {
  it.each<[JsonObject, number, string]>([
    [openAi('server_error'), 400, 'invalid_request_error'],
    [openAi(null), 401, 'authentication_error'],
    [openAi(null), 403, 'authentication_error'],
    [openAi(null), 404, 'not_found_error'],
    [openAi('insufficient_quota'), 429, 'rate_limit_error'],
    [openAi(null), 500, 'api_error'],
    [openAi(null), 503, 'api_error'],
    [openAi('overloaded_error'), 500, 'overloaded_error'],
    [{ error: 'x' }, 500, 'api_error'],
  ])('%j with status %d is %s for a client of messages', (error, status, type) => {
    const translated = translationOf('Messages', 'Completions').error(error, status)
    expect(translated).toEqual({ type: 'error', error: { type, message: 'x' } })
  })

  it.each(['Completions', 'Responses'] as const)('keeps its type for a client of %s', (from) => {
    const translated = translationOf(from, 'Messages').error(anthropic('overloaded_error'), 529)
    expect(translated).toEqual({ error: { message: 'x', type: 'overloaded_error', param: null, code: null } })
  })

  it.each(['Completions', 'Responses'] as const)('of another form is not an error of %s', (to) => {
    expect(translationOf('Messages', to).error({ oops: 1 }, 500)).toBeUndefined()
  })
})
