// A model provider for pages of the web UI: chat completions and responses, with streams, images and calls of tools.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { CALL, type DemoAnswer, MODEL, TOKENS } from './demo-answer.testing.ts'
import { responseEvents, responseOf } from './demo-responses.testing.ts'

/** As the gateway sends it. */
interface ModelRequest {
  readonly stream?: boolean
  readonly tools?: readonly unknown[]
  /** Of chat completions. */
  readonly messages?: readonly ModelItem[]
  /** Of responses. */
  readonly input?: readonly ModelItem[]
}

interface ModelItem {
  readonly role?: string
  readonly content?: unknown
  /** Of responses. */
  readonly type?: string
  readonly output?: unknown
}

/** Says hello, and what it sees; calls a tool if the request has tools, and says its result. */
export async function serveModel(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream = false, tools, messages = [], input } = JSON.parse(await text(request)) as ModelRequest
  const isResponses = request.url?.endsWith('/responses') === true
  const last = isResponses ? input?.at(-1) : messages.at(-1)
  const answer = answerTo(last, tools !== undefined)
  if (isResponses) sendResponses(response, answer, stream)
  else sendCompletions(response, answer, stream)
}

function answerTo(last: ModelItem = {}, hasTools: boolean): DemoAnswer {
  if (last.type === 'function_call_output') return resultOf(last.output)
  if (last.role === 'tool') return resultOf(last.content)
  const image = /"data:([a-z/]+);base64,([^"]*)"/.exec(JSON.stringify(last.content) ?? '')
  return { parts: ['Hel', `lo${image === null ? '' : seenIn(image)}`], hasCall: hasTools }
}

function seenIn([, type = '', data = '']: RegExpExecArray): string {
  return `, I see ${Buffer.from(data, 'base64').length} bytes of ${type}`
}

function resultOf(result: unknown): DemoAnswer {
  return { parts: ['The tool ', `says ${String(result)}`], hasCall: false }
}

function sendCompletions(response: ServerResponse, { parts, hasCall }: DemoAnswer, isStream: boolean): void {
  const { id, ...called } = CALL
  const call = { id, type: 'function', function: called }
  const usage = { prompt_tokens: TOKENS.input, completion_tokens: TOKENS.output, total_tokens: TOKENS.total }
  const reason = hasCall ? 'tool_calls' : 'stop'
  if (isStream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const deltas = [
      { role: 'assistant', content: parts[0] },
      { content: parts[1], ...(hasCall && { tool_calls: [{ index: 0, ...call }] }) },
    ]
    for (const chunk of [
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: reason }] },
      { choices: [], usage },
    ]) {
      const body = { id: 'c', object: 'chat.completion.chunk', created: 1, model: MODEL, ...chunk }
      response.write(`data: ${JSON.stringify(body)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
    return
  }
  const message = { role: 'assistant', content: parts.join(''), ...(hasCall && { tool_calls: [call] }) }
  const choices = [{ index: 0, message, finish_reason: reason }]
  sendJson(response, { id: 'c', object: 'chat.completion', created: 1, model: MODEL, choices, usage })
}

function sendResponses(response: ServerResponse, answer: DemoAnswer, isStream: boolean): void {
  if (!isStream) {
    sendJson(response, responseOf(answer))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of responseEvents(answer)) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }
  response.end()
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
