// Model server of the quickstart: speaks the chat-completions and the messages format with answers that depend on
// nothing but the request. One token is one word.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

type Json = { [key: string]: unknown }

interface Answer {
  readonly model: string
  readonly words: readonly string[]
  readonly promptTokens: number
}

export function modelServer(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => handle(request, response, Buffer.concat(chunks).toString('utf8')))
  })
}

function handle(request: IncomingMessage, response: ServerResponse, text: string): void {
  const path = (request.url ?? '').split('?')[0]
  const body = parse(text)
  if (path === '/overloaded/v1/chat/completions') {
    completionsError(response, 503, 'this provider is overloaded')
    return
  }
  if (path === '/v1/chat/completions') {
    if (request.headers.authorization === undefined) completionsError(response, 401, 'missing API key')
    else if (!Array.isArray(body['messages'])) completionsError(response, 400, 'messages is required')
    else completions(response, body)
    return
  }
  if (path !== '/v1/messages') {
    send(response, 404, { error: { message: `unknown path ${path}`, type: 'invalid_request_error' } })
    return
  }
  if (request.headers['x-api-key'] === undefined)
    messagesError(response, 401, 'authentication_error', 'missing API key')
  else if (!Array.isArray(body['messages']))
    messagesError(response, 400, 'invalid_request_error', 'messages is required')
  else if (typeof body['max_tokens'] !== 'number') {
    messagesError(response, 400, 'invalid_request_error', 'max_tokens is required')
  } else messages(response, body)
}

function completions(response: ServerResponse, body: Json): void {
  const { model, words, promptTokens } = answerTo(body)
  const head = { id: 'chatcmpl-demo', created: 1_767_225_600, model }
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: words.length,
    total_tokens: promptTokens + words.length,
  }
  if (body['stream'] !== true) {
    const message = { role: 'assistant', content: words.join(' '), refusal: null }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
    send(response, 200, { ...head, object: 'chat.completion', choices, usage })
    return
  }
  const chunk = (delta: Json, reason: string | null): string =>
    event({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(chunk({ role: 'assistant', content: '' }, null))
  for (const [at, word] of words.entries()) response.write(chunk({ content: at === 0 ? word : ` ${word}` }, null))
  response.write(chunk({}, 'stop'))
  const options = body['stream_options']
  if (typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true) {
    response.write(event({ ...head, object: 'chat.completion.chunk', choices: [], usage }))
  }
  response.end('data: [DONE]\n\n')
}

function messages(response: ServerResponse, body: Json): void {
  const { model, words, promptTokens } = answerTo(body)
  const head = { id: 'msg_demo', type: 'message', role: 'assistant', model }
  const usage = { input_tokens: promptTokens, output_tokens: words.length }
  if (body['stream'] !== true) {
    const content = [{ type: 'text', text: words.join(' ') }]
    send(response, 200, { ...head, content, stop_reason: 'end_turn', stop_sequence: null, usage })
    return
  }
  const named = (json: Json & { type: string }): string => `event: ${json.type}\n${event(json)}`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } }
  response.write(named({ type: 'message_start', message: start }))
  response.write(named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }))
  for (const [at, word] of words.entries()) {
    const delta = { type: 'text_delta', text: at === 0 ? word : ` ${word}` }
    response.write(named({ type: 'content_block_delta', index: 0, delta }))
  }
  response.write(named({ type: 'content_block_stop', index: 0 }))
  const end = { stop_reason: 'end_turn', stop_sequence: null }
  response.write(named({ type: 'message_delta', delta: end, usage: { output_tokens: words.length } }))
  response.end(named({ type: 'message_stop' }))
}

/** Repeats the last user message, so that a reader sees what arrived. */
function answerTo(body: Json): Answer {
  const list = body['messages'] as readonly Json[] // checked by the caller; a demo server may trust its own checks
  const last = list.findLast((message) => message['role'] === 'user')
  const prompt = list.map((message) => textOf(message['content'])).join(' ')
  const model = typeof body['model'] === 'string' ? body['model'] : 'demo'
  return {
    model,
    words: `You said: ${textOf(last?.['content'])}`.split(' '),
    promptTokens: prompt.split(/\s+/).filter((word) => word !== '').length,
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join(' ')
}

function completionsError(response: ServerResponse, status: number, message: string): void {
  send(response, status, { error: { message, type: 'invalid_request_error', param: null, code: null } })
}

function messagesError(response: ServerResponse, status: number, type: string, message: string): void {
  send(response, status, { type: 'error', error: { type, message } })
}

function send(response: ServerResponse, status: number, json: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(json))
}

function event(json: Json): string {
  return `data: ${JSON.stringify(json)}\n\n`
}

function parse(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
  } catch {
    return {}
  }
}
