// Clients for tests: the SDKs of the vendors, which read a given answer as if a server had sent it.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { asObject, asString } from '../json.ts'
import type { ChatName } from './vendors.testing.ts'

/** What a program sees in the objects of its SDK, in no vendor's form. */
export interface SeenAnswer {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  readonly stop: string
  readonly input: number
  readonly cached: number
  readonly output: number
}

export interface Client {
  readonly stops: { readonly [S in 'stop' | 'length' | 'toolCalls']: string }
  /** @throws {Error} what the SDK throws for an error. */
  read(answer: Response, isStream: boolean): Promise<SeenAnswer>
  /** All events of a stream. */
  grammar(text: string): void
}

export function jsonResponse(json: unknown, status = 200): Response {
  return new Response(JSON.stringify(json), { status, headers: { 'content-type': 'application/json' } })
}

export function streamResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

const options = (answer: Response) => ({ apiKey: 'k', maxRetries: 0, fetch: () => Promise.resolve(answer) })

/** A field of other providers, which the SDK does not declare. */
function reasoningOf(message: unknown): string {
  return asString(asObject(message)['reasoning_content']) ?? ''
}

function seenCompletion({ choices: [choice], usage }: OpenAI.ChatCompletion): SeenAnswer {
  if (choice === undefined || usage === undefined) throw new Error('no choice or no usage')
  const { message, finish_reason: stop } = choice
  return {
    reasoning: reasoningOf(message),
    text: message.content ?? '',
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
        : [],
    ),
    stop,
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? -1,
    output: usage.completion_tokens,
  }
}

const completions: Client = {
  stops: { stop: 'stop', length: 'length', toolCalls: 'tool_calls' },
  async read(answer, isStream) {
    const { completions: api } = new OpenAI(options(answer)).chat
    const body = { model: 'm', messages: [] }
    if (!isStream) return seenCompletion(await api.create(body))
    const stream = api.stream({ ...body, stream: true, stream_options: { include_usage: true } })
    let reasoning = ''
    stream.on('chunk', ({ choices }) => (reasoning += reasoningOf(choices[0]?.delta)))
    return { ...seenCompletion(await stream.finalChatCompletion()), reasoning }
  },
  grammar(text) {
    const events = framesOf(text)
    if (events.at(-1)?.data !== '[DONE]') throw new Error('no [DONE]')
    const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data) as OpenAI.ChatCompletionChunk)
    const reasons = chunks
      .map(({ choices }) => choices[0]?.finish_reason)
      .filter((reason) => typeof reason === 'string')
    if (reasons.length !== 1) throw new Error('not one finish_reason')
    if (chunks[0]?.choices[0]?.delta.role !== 'assistant') throw new Error('no role in the first chunk')
    let calls = 0
    for (const call of chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])) {
      if (call.id !== undefined && call.index !== calls++) throw new Error('tool call out of order')
      if (call.index >= calls) throw new Error('delta of a tool call that was not opened')
    }
  },
}

const messages: Client = {
  stops: { stop: 'end_turn', length: 'max_tokens', toolCalls: 'tool_use' },
  async read(answer, isStream) {
    const { messages: api } = new Anthropic(options(answer))
    const body = { model: 'm', max_tokens: 9, messages: [] }
    const { content, stop_reason: stop, usage } = await (isStream ? api.stream(body).finalMessage() : api.create(body))
    return {
      reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
      ),
      stop: stop ?? '',
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      cached: usage.cache_read_input_tokens ?? 0,
      output: usage.output_tokens,
    }
  },
  grammar(text) {
    const events = framesOf(text).map(({ event, data }) => {
      const json = JSON.parse(data) as { type: string; index?: number }
      if (json.type !== event) throw new Error(`event ${event} has type ${json.type}`)
      return json
    })
    const types = events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`)).join('\n')
    const block = /(content_block_start (\d+)\n(?:content_block_delta \2\n)*content_block_stop \2\n)/.source
    if (!new RegExp(`^message_start\n${block}*message_delta\nmessage_stop$`).test(types)) throw new Error(types)
    const starts = events.filter(({ type }) => type === 'content_block_start').map(({ index }) => index)
    if (starts.some((index, at) => index !== at)) throw new Error(`blocks are ${starts.join()}`)
  },
}

export const CLIENTS: { readonly [N in Exclude<ChatName, 'Responses'>]: Client } = {
  Completions: completions,
  Messages: messages,
}

export function framesOf(text: string): readonly { readonly event: string; readonly data: string }[] {
  if (!text.endsWith('\n\n')) throw new Error('half an event')
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const [, , event = '', data = ''] = /^(event: (.*)\n)?data: (.*)$/.exec(frame) ?? []
      return { event, data }
    })
}
