// Clients for tests: the SDKs of the vendors, which read a given answer as if a server had sent it.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { asArray, asObject, asString, parseObject, type JsonObject } from '../json.ts'
import { type Client, framesOf, type SeenAnswer } from './client.testing.ts'
import { geminiClient } from './gemini-client.testing.ts'
import type { VendorName } from './vendors.testing.ts'

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

/** Of other providers, too. */
function imagesOf(message: unknown): Pick<SeenAnswer, 'images'> {
  const images = asArray(asObject(message)['images']).map((image) =>
    String(asObject(asObject(image)['image_url'])['url']).replace('data:image/png;base64,', ''),
  )
  return images.length === 0 ? {} : { images }
}

function seenCompletion({ choices: [choice], usage }: OpenAI.ChatCompletion): SeenAnswer {
  if (choice === undefined || usage === undefined) throw new Error('no choice or no usage')
  const { message, finish_reason: stop } = choice
  return {
    reasoning: reasoningOf(message),
    text: message.content ?? '',
    ...imagesOf(message),
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

const responses: Client = {
  stops: { stop: 'completed', length: 'incomplete max_output_tokens', toolCalls: 'completed' },
  async read(answer, isStream) {
    const { responses: api } = new OpenAI(options(answer))
    const body = { model: 'm', input: 'hi' }
    const response = await (isStream ? api.stream({ ...body, stream: true }).finalResponse() : api.create(body))
    const { output, usage, status, incomplete_details: incomplete } = response
    const images = output.flatMap((item) => (item.type === 'image_generation_call' ? (item.result ?? []) : []))
    return {
      reasoning: output.map((item) => (item.type === 'reasoning' ? reasoningIn(item) : '')).join(''),
      text: response.output_text,
      ...(images.length > 0 && { images }),
      calls: output.flatMap((item) =>
        item.type === 'function_call'
          ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) as unknown }]
          : [],
      ),
      stop: incomplete ? `${status} ${incomplete.reason}` : (status ?? ''),
      input: usage?.input_tokens ?? -1,
      cached: usage?.input_tokens_details.cached_tokens ?? -1,
      output: usage?.output_tokens ?? -1,
    }
  },
  grammar(text) {
    const events = framesOf(text).map(({ event, data }, index) => {
      const json = parseObject(data) ?? {}
      if (json['type'] !== event) throw new Error(`event ${event} has another type`)
      if (json['sequence_number'] !== index) throw new Error(`event ${index} has another number`)
      return json
    })
    const last = events.at(-1)
    if (events[0]?.['type'] !== 'response.created') throw new Error('no response.created')
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    const { output } = asObject(last?.['response'])
    if (JSON.stringify(output) !== JSON.stringify(done)) throw new Error('the items are not those of the response')
    for (const [index, item] of done.entries()) itemGrammar(events, index, asObject(item))
  },
}

function reasoningIn({ summary, content = [] }: OpenAI.Responses.ResponseReasoningItem): string {
  return [...summary, ...content].map(({ text }) => text).join('\n\n')
}

/** What each kind of item consists of between the event that adds it and the one that ends it. */
const ITEM_EVENTS: Readonly<Record<string, RegExp>> = {
  message: /^content_part.added (output_text|refusal).delta (\1.delta )*\1.done content_part.done $/,
  image_generation_call: /^image_generation_call.completed $/,
  function_call: /^(function_call_arguments.delta )+function_call_arguments.done $/,
  reasoning:
    /^(reasoning_summary_part.added (reasoning_summary_text.delta )+reasoning_summary_text.done reasoning_summary_part.done |content_part.added (reasoning_text.delta )+reasoning_text.done content_part.done )?$/,
}

function itemGrammar(events: readonly JsonObject[], index: number, item: JsonObject): void {
  const own = events.filter(({ output_index: place }) => place === index)
  const [added, ...rest] = own
  const last = rest.pop()
  const types = rest.map(({ type }) => `${String(type).replace('response.', '')} `).join('')
  const pattern = ITEM_EVENTS[String(item['type'])]
  if (added?.['type'] !== 'response.output_item.added' || last?.['type'] !== 'response.output_item.done') {
    throw new Error(`item ${index} is not added and ended`)
  }
  if (pattern?.test(types) !== true) throw new Error(`item ${index} has the events ${types}`)
  if (rest.some(({ item_id: id }) => id !== asObject(added['item'])['id'])) throw new Error('another item_id')
}

export const CLIENTS: { readonly [N in VendorName]: Client } = {
  Completions: completions,
  Messages: messages,
  Responses: responses,
  GenerateContent: geminiClient,
}
