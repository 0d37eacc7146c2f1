// Ids of tool calls of one vendor in requests to another, which has other limits.
import { expect, it } from 'vitest'
import { chatFormat } from '../formats/chat-table.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import { notesIn, translationOf } from './translate.testing.ts'

/** The ids of the calls, and of their results, that Anthropic gets for these of a client of chat completions. */
function sentToAnthropic(...ids: readonly string[]): { readonly calls: unknown[]; readonly results: unknown[] } {
  const request = translationOf('Completions', 'Messages').request(
    {
      model: 'claude-x',
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
      ],
    },
    notesIn([]),
  )
  const blocks = asArray(request['messages'])
    .flatMap((message) => asArray(asObject(message)['content']))
    .map(asObject)
  return {
    calls: blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])),
    results: blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : [])),
  }
}

it('reach Anthropic unchanged if they are valid, however long they are', () => {
  const long = `toolu_${'x'.repeat(100)}`
  expect(sentToAnthropic('call_1', long).calls).toEqual(['call_1', long])
})

it('stay different where characters are replaced for Anthropic, and results name the same ids', () => {
  const { calls, results } = sentToAnthropic('functions.f:0', 'functions_f_0', 'functions.f.0', '')
  expect(results).toEqual(calls)
  expect(new Set(calls).size).toBe(4)
  for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
})

it.each([['no id'], ['short'], ['an-id-of-an-answer-that-is-longer-than-all-others']])(
  'of Gemini models have at most 40 characters, which is the limit of OpenAI: %s',
  (responseId) => {
    const call = { functionCall: { name: 'f', args: {} } }
    const answer: JsonObject = {
      ...(responseId !== 'no id' && { responseId }),
      candidates: [{ content: { parts: Array.from({ length: 12 }, () => call) }, finishReason: 'STOP' }],
    }
    const events = chatFormat('GenerateContent')?.decodeAnswer(answer) ?? []
    const ids = events.flatMap((event) =>
      event.kind === 'open' && event.part.kind === 'toolCall' ? [event.part.id] : [],
    )
    expect(new Set(ids).size).toBe(12)
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(40)
  },
)
