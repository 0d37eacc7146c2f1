// Messages event stream to chat-completions chunks. A state machine: a delta for a block that was never opened is
// dropped, an error event ends the stream, and `[DONE]` comes only after a complete answer.
import { asArray, asNumber, asObject, asString, parseExactObject, type JsonObject } from '../json.ts'
import { sseData, type SseEvent } from '../../http/sse.ts'
import { completionsUsage, finishReason, messagesErrorToCompletions } from './completions-response.ts'
import type { StreamOptions, StreamTranslator } from './translation.ts'

export function messagesStreamToCompletions({ createdSeconds, includeUsage }: StreamOptions): StreamTranslator {
  return new MessagesStream(createdSeconds, includeUsage)
}

const COUNTS: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
])

interface ToolBlock {
  readonly call: number
  /** As the block began. */
  readonly input: JsonObject
  hasArguments: boolean
}

/** A whole response as chunks of a stream: for a client that requested one and a provider that sent none. */
export function messageToChunks(message: JsonObject, options: StreamOptions): string {
  const stream = new MessagesStream(options.createdSeconds, options.includeUsage)
  const blocks = asArray(message['content']).flatMap((block, index): JsonObject[] => [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_stop', index },
  ])
  return [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: message['stop_reason'] } },
    { type: 'message_stop' },
  ]
    .map((event) => stream.translated(event))
    .join('')
}

class MessagesStream implements StreamTranslator {
  readonly #created: number
  readonly #includeUsage: boolean
  #id = ''
  #model = ''
  #usage: JsonObject = {}
  #stopReason: unknown = undefined
  /** By content block index; undefined for text and thinking blocks. */
  readonly #blocks = new Map<number, ToolBlock | undefined>()
  #toolCalls = 0
  #state: 'before' | 'open' | 'done' | 'failed' = 'before'

  constructor(createdSeconds: number, includeUsage: boolean) {
    this.#created = createdSeconds
    this.#includeUsage = includeUsage
  }

  get isFailed(): boolean {
    return this.#state === 'failed'
  }

  event({ data }: SseEvent): string {
    if (this.#state === 'done' || this.#state === 'failed') return ''
    const json = parseExactObject(data)
    return json === undefined ? this.#fail('the provider sent an event that is not valid JSON') : this.translated(json)
  }

  translated(json: JsonObject): string {
    switch (json['type']) {
      case 'message_start':
        return this.#start(asObject(json['message']))
      case 'content_block_start':
        return this.#openBlock(json)
      case 'content_block_delta':
        return this.#delta(json)
      case 'content_block_stop':
        return this.#closeBlock(indexOf(json))
      case 'message_delta':
        this.#learnEnd(json)
        return ''
      case 'message_stop':
        return this.#finish()
      case 'error':
        this.#state = 'failed'
        return sseData(messagesErrorToCompletions(json) ?? errorChunk('the provider reported an error'))
      default:
        return ''
    }
  }

  end(): string {
    if (this.#state === 'done' || this.#state === 'failed') return ''
    return this.#fail('the provider ended its stream before the response was complete')
  }

  #start(message: JsonObject): string {
    this.#state = 'open'
    this.#id = asString(message['id']) ?? ''
    this.#model = asString(message['model']) ?? ''
    this.#learnUsage(asObject(message['usage']))
    return this.#chunk({ role: 'assistant', content: '', refusal: null })
  }

  #openBlock(json: JsonObject): string {
    const index = indexOf(json)
    const block = asObject(json['content_block'])
    const closed = this.#closeBlock(index)
    if (block['type'] !== 'tool_use') {
      this.#blocks.set(index, undefined)
      return closed + this.#content('content', block['text']) + this.#content('reasoning_content', block['thinking'])
    }
    const call = this.#toolCalls++
    this.#blocks.set(index, { call, input: asObject(block['input']), hasArguments: false })
    const fn = { name: block['name'], arguments: '' }
    return closed + this.#chunk({ tool_calls: [{ index: call, id: block['id'], type: 'function', function: fn }] })
  }

  #content(name: 'content' | 'reasoning_content', value: unknown): string {
    const text = asString(value) ?? ''
    return text === '' ? '' : this.#chunk({ [name]: text })
  }

  /** A call without a delta has the input it began with: `{}` where the tool takes none. */
  #closeBlock(index: number): string {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    return block === undefined || block.hasArguments ? '' : this.#arguments(block, JSON.stringify(block.input))
  }

  #arguments(block: ToolBlock, text: string): string {
    if (text === '') return ''
    block.hasArguments = true
    return this.#chunk({ tool_calls: [{ index: block.call, function: { arguments: text } }] })
  }

  #delta(json: JsonObject): string {
    const index = indexOf(json)
    if (!this.#blocks.has(index)) return ''
    const block = this.#blocks.get(index)
    const delta = asObject(json['delta'])
    switch (delta['type']) {
      case 'text_delta':
        return this.#chunk({ content: asString(delta['text']) ?? '' })
      case 'thinking_delta':
        return this.#chunk({ reasoning_content: asString(delta['thinking']) ?? '' })
      case 'input_json_delta':
        return block === undefined ? '' : this.#arguments(block, asString(delta['partial_json']) ?? '')
      default:
        return ''
    }
  }

  #learnEnd(json: JsonObject): void {
    this.#stopReason = asObject(json['delta'])['stop_reason'] ?? this.#stopReason
    this.#learnUsage(asObject(json['usage']))
  }

  /** Null means that a count is not repeated, not that there is none. */
  #learnUsage(usage: JsonObject): void {
    for (const [name, value] of Object.entries(usage)) {
      if (value !== null && COUNTS.has(name)) this.#usage[name] = value
    }
  }

  #finish(): string {
    this.#state = 'done'
    const open = [...this.#blocks.keys()].map((index) => this.#closeBlock(index)).join('')
    const last = open + this.#chunk({}, finishReason(this.#stopReason))
    const usage = this.#includeUsage
      ? sseData({ ...this.#head(), choices: [], usage: completionsUsage(this.#usage) })
      : ''
    return `${last}${usage}data: [DONE]\n\n`
  }

  #fail(message: string): string {
    this.#state = 'failed'
    return sseData(errorChunk(message))
  }

  #chunk(delta: JsonObject, reason: string | null = null): string {
    return sseData({ ...this.#head(), choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] })
  }

  #head(): JsonObject {
    return { id: this.#id, object: 'chat.completion.chunk', created: this.#created, model: this.#model }
  }
}

/** Of the content block that an event is about. */
function indexOf(json: JsonObject): number {
  return asNumber(json['index']) ?? -1
}

function errorChunk(message: string): JsonObject {
  return { error: { message, type: 'api_error', param: null, code: null } }
}
