// Messages event stream to chat-completions chunks. A state machine: a delta for a block that was never opened is
// dropped, an error event ends the stream, and `[DONE]` comes only after a complete answer.
import { isRecord } from '#api/json.ts'
import { asNumber, asObject, asString, parseObject, type JsonObject } from '../json.ts'
import { sseData, type SseEvent } from '../sse.ts'
import { completionsUsage, finishReason, messagesErrorToCompletions } from './completions-response.ts'

export interface StreamTranslator {
  /** Text to send for one event; empty for events that have no counterpart. */
  event(event: SseEvent): string
  /** Text to send when the provider's stream ends; an error chunk when it ended early. */
  end(): string
  readonly isFailed: boolean
}

export interface CompletionsStreamOptions {
  readonly createdSeconds: number
  /** The client asked for `stream_options.include_usage`. */
  readonly includeUsage: boolean
}

export function messagesStreamToCompletions({
  createdSeconds,
  includeUsage,
}: CompletionsStreamOptions): StreamTranslator {
  return new MessagesStream(createdSeconds, includeUsage)
}

class MessagesStream implements StreamTranslator {
  readonly #created: number
  readonly #includeUsage: boolean
  #id = ''
  #model = ''
  #usage: JsonObject = {}
  #stopReason: unknown = undefined
  /** Content block index to tool call index; -1 for text and thinking blocks. */
  readonly #blocks = new Map<number, number>()
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
    const json = parseObject(data)
    if (json === undefined) return this.#fail('the provider sent an event that is not JSON')
    switch (json['type']) {
      case 'message_start':
        return this.#start(asObject(json['message']))
      case 'content_block_start':
        return this.#openBlock(json)
      case 'content_block_delta':
        return this.#delta(json)
      case 'message_delta':
        this.#stopReason = asObject(json['delta'])['stop_reason'] ?? this.#stopReason
        Object.assign(this.#usage, asObject(json['usage']))
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
    return this.#fail('the provider ended its stream before the answer was complete')
  }

  #start(message: JsonObject): string {
    this.#state = 'open'
    this.#id = asString(message['id']) ?? ''
    this.#model = asString(message['model']) ?? ''
    if (isRecord(message['usage'])) this.#usage = { ...message['usage'] }
    return this.#chunk({ role: 'assistant', content: '', refusal: null })
  }

  #openBlock(json: JsonObject): string {
    const index = asNumber(json['index']) ?? -1
    const block = asObject(json['content_block'])
    if (block['type'] !== 'tool_use') {
      this.#blocks.set(index, -1)
      const text = asString(block['text']) ?? ''
      return text === '' ? '' : this.#chunk({ content: text })
    }
    const call = this.#toolCalls++
    this.#blocks.set(index, call)
    const fn = { name: block['name'], arguments: '' }
    return this.#chunk({ tool_calls: [{ index: call, id: block['id'], type: 'function', function: fn }] })
  }

  #delta(json: JsonObject): string {
    const call = this.#blocks.get(asNumber(json['index']) ?? -1)
    if (call === undefined) return ''
    const delta = asObject(json['delta'])
    switch (delta['type']) {
      case 'text_delta':
        return this.#chunk({ content: asString(delta['text']) ?? '' })
      case 'thinking_delta':
        return this.#chunk({ reasoning_content: asString(delta['thinking']) ?? '' })
      case 'input_json_delta': {
        if (call < 0) return ''
        return this.#chunk({
          tool_calls: [{ index: call, function: { arguments: asString(delta['partial_json']) ?? '' } }],
        })
      }
      default:
        return ''
    }
  }

  #finish(): string {
    this.#state = 'done'
    const last = this.#chunk({}, finishReason(this.#stopReason))
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

function errorChunk(message: string): JsonObject {
  return { error: { message, type: 'api_error', param: null, code: null } }
}
