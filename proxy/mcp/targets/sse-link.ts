// The event stream of one session with a server of the legacy SSE transport (MCP 2024-11-05): it carries all messages
// of the server, and the link gives each to the call or listener that it is for. Does not send requests.
import { messageOf } from '../../exchange/diagnosis.ts'
import type { StreamBody } from '../../message/body.ts'
import { SseParser } from '../../http/sse.ts'
import { isResponse, parseMessage, type JsonRpcId, type JsonRpcMessage } from '../jsonrpc.ts'
import { reportedProgress } from './progress.ts'
import { unreadable } from './response-messages.ts'
import { TargetError } from './target.ts'

/** Calls of one session in progress. */
const CALLS_MAX = 256

/** Gets messages of a link. `text`: the message as the server wrote it. */
export interface LinkReader {
  readonly onMessage: (message: JsonRpcMessage, text: string) => void
  /** No message follows; `error` undefined: the call has its response, or another listener took over. */
  readonly onEnd: (error: Error | undefined) => void
}

export interface LinkCall {
  readonly id: JsonRpcId
  /** JSON of the progress token; undefined: the call has none. */
  readonly progressToken: string | undefined
}

export class SseLink {
  readonly name: string
  /** `host:port` of the server. */
  readonly endpoint: string
  readonly #body: StreamBody
  readonly #calls = new Map<JsonRpcId, LinkReader & LinkCall>()
  readonly #onClosed: () => void
  readonly #path = Promise.withResolvers<string>()
  #listener: LinkReader | undefined = undefined
  #error: Error | undefined = undefined

  /** `pathOf`: path for messages from the data of the event `endpoint`; throws if the server may not name it. */
  constructor(options: {
    readonly name: string
    readonly endpoint: string
    readonly body: StreamBody
    readonly messageBytesMax: number
    readonly pathOf: (data: string) => string
    readonly onClosed: () => void
  }) {
    const { name, endpoint, body, messageBytesMax, pathOf, onClosed } = options
    this.name = name
    this.endpoint = endpoint
    this.#body = body
    this.#onClosed = onClosed
    // A stream may end while no caller waits for the path.
    this.#path.promise.catch(() => {})
    void this.#read(messageBytesMax, pathOf)
  }

  /** Path for messages; rejects if the stream ends before the server names it. */
  get path(): Promise<string> {
    return this.#path.promise
  }

  get isInUse(): boolean {
    return this.#listener !== undefined || this.#calls.size > 0
  }

  /** Messages for a request, until its response. Returns how to stop. */
  call(call: LinkCall, reader: LinkReader): () => void {
    if (this.#error !== undefined) reader.onEnd(this.#error)
    else if (this.#calls.has(call.id)) {
      reader.onEnd(new TargetError(`${this.name}: a request with this id is already in progress`))
    } else if (this.#calls.size >= CALLS_MAX) {
      reader.onEnd(new TargetError(`${this.name}: the session has more than ${CALLS_MAX} requests in progress`))
    } else {
      const entry = { ...call, ...reader }
      this.#calls.set(call.id, entry)
      return () => {
        if (this.#calls.get(call.id) === entry) this.#calls.delete(call.id)
      }
    }
    return () => {}
  }

  /** Messages that belong to no request; replaces the previous listener. Returns how to stop. */
  listen(reader: LinkReader): () => void {
    const previous = this.#listener
    this.#listener = reader
    previous?.onEnd(undefined)
    if (this.#error !== undefined) reader.onEnd(this.#error)
    return () => {
      if (this.#listener === reader) this.#listener = undefined
    }
  }

  close(): void {
    this.#over(new TargetError(`${this.name}: the session has ended`))
  }

  async #read(messageBytesMax: number, pathOf: (data: string) => string): Promise<void> {
    try {
      const parser = new SseParser(messageBytesMax)
      for await (const chunk of this.#body) {
        for (const { event, data } of parser.push(chunk)) {
          if (event === 'endpoint') this.#path.resolve(pathOf(data))
          else if (event === '' || event === 'message') this.#dispatch(data)
        }
      }
      this.#over(new TargetError(`${this.name}: the server closed its event stream`))
    } catch (error) {
      this.#over(new TargetError(`${this.name}: ${messageOf(error)}`))
    }
  }

  #over(error: Error): void {
    if (this.#error !== undefined) return
    this.#error = error
    this.#path.reject(error)
    this.#body.cancel()
    this.#onClosed()
    const readers = [...this.#calls.values(), ...(this.#listener === undefined ? [] : [this.#listener])]
    this.#calls.clear()
    this.#listener = undefined
    for (const reader of readers) reader.onEnd(error)
  }

  /** Messages that no reader waits for are dropped. */
  #dispatch(text: string): void {
    const message = parseMessage(text)
    if (message === undefined) throw new TargetError(unreadable(text))
    const reader = this.#readerOf(message)
    reader?.onMessage(message, text)
    if (!isResponse(message) || this.#calls.get(message.id) !== reader) return
    this.#calls.delete(message.id)
    reader?.onEnd(undefined)
  }

  /** A response without a request goes to a reader as well, which drops and counts it. */
  #readerOf(message: JsonRpcMessage): LinkReader | undefined {
    const [oldest] = this.#calls.values()
    const others = this.#listener ?? oldest
    if (isResponse(message)) return this.#calls.get(message.id) ?? others
    const token = reportedProgress(message)
    if (token === undefined) return others
    return [...this.#calls.values()].find(({ progressToken }) => progressToken === token) ?? others
  }
}
