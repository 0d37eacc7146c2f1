// The demo provider sends what the client of OpenAI expects: responses, and the events of their streams in order.
import { createServer, type Server } from 'node:http'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { CALL, MODEL, TOKENS } from '#test/ui/demo-answer.testing.ts'
import { serveModel } from '#test/ui/demo-model.testing.ts'

const TOOLS: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: CALL.name, parameters: { type: 'object' }, strict: false },
]

let server: Server
let client: OpenAI

beforeAll(async () => {
  server = createServer((request, response) => void serveModel(request, response))
  client = new OpenAI({ apiKey: 'k', maxRetries: 0, baseURL: `http://127.0.0.1:${await listening(server)}/v1` })
})

afterAll(() => closeServer(server))

it('streams a response with text and the call of a tool', async () => {
  const stream = client.responses.stream({ model: MODEL, input: [{ role: 'user', content: 'Hi' }], tools: TOOLS })
  const texts: string[] = []
  const types: string[] = []
  const positions: number[] = []
  stream.on('event', ({ type, sequence_number: position }) => {
    if (types.at(-1) !== type) types.push(type)
    positions.push(position)
  })
  stream.on('response.output_text.delta', ({ snapshot }) => texts.push(snapshot))
  const { status, output, output_text: text, usage } = await stream.finalResponse()
  expect({ status, text, total: usage?.total_tokens }).toEqual({
    status: 'completed',
    text: 'Hello',
    total: TOKENS.total,
  })
  expect(texts).toEqual(['Hel', 'Hello'])
  expect(output[1]).toMatchObject({ type: 'function_call', call_id: CALL.id, arguments: CALL.arguments })
  expect(positions).toEqual(positions.map((_, at) => at))
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ])
})

it('says the result of a tool, without a stream', async () => {
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: 'Hi' },
    { type: 'function_call', call_id: CALL.id, name: CALL.name, arguments: CALL.arguments },
    { type: 'function_call_output', call_id: CALL.id, output: 'Rain' },
  ]
  const response = await client.responses.create({ model: MODEL, input, tools: TOOLS })
  expect(response.output.map(({ type }) => type)).toEqual(['message'])
  expect(response.output_text).toBe('The tool says Rain')
})

it('streams chat completions with text and the call of a tool', async () => {
  const stream = client.chat.completions.stream({
    model: MODEL,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: CALL.name, parameters: { type: 'object' } } }],
  })
  const { choices, usage } = await stream.finalChatCompletion()
  expect(choices[0]?.message.content).toBe('Hello')
  expect(choices[0]?.message.tool_calls).toMatchObject([{ id: CALL.id, function: { arguments: CALL.arguments } }])
  expect(usage?.total_tokens).toBe(TOKENS.total)
})
