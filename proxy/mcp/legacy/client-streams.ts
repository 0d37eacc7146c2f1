// Event streams of clients of the transport of MCP 2024-11-05. A stream lives in the worker that has the connection of
// its client; messages of the client may arrive at every worker of the process. Does not send requests to servers.
import { randomUUID } from 'node:crypto'
import type { Cancellable } from '../../message/body.ts'
import { MessageQueue } from '../targets/message-queue.ts'
import { WorkerChannels, workerOf } from '../worker-channels.ts'

/** Of one worker; each has a connection of a client. */
export const STREAMS_MAX = 4096
/** A worker that does not respond has ended, or belongs to another replica. */
const ANSWER_TIMEOUT_MS = 1000
const CHANNEL_PREFIX = 'gw-mcp-streams-'

/** What a message of the client does with its stream. */
export interface UsedStream {
  /** Id of the session that the client has opened. */
  readonly session: string | undefined
  /** Aborted at the end of the stream. */
  readonly signal: AbortSignal
  /** False: the stream has a session, or has ended. */
  setSession(session: string): Promise<boolean>
  /** The client has initialized its session: servers may send messages of their own. */
  initialized(): void
  /** Complete events. */
  send(events: string): void
  /** For the log of the request that opened the stream. */
  note(detail: string): void
  /** No event follows from this use. */
  release(): void
}

/** In the worker of the stream. */
export interface StreamOwner {
  onInitialized(session: string): void
  onNote(detail: string): void
  /** The client has left. `session` undefined: it has opened none. */
  onEnd(session: string | undefined): void
}

/** Between workers. `use` is chosen by the asking worker, whose name is in `from`. */
type Delivered =
  | { readonly kind: 'initialized'; readonly stream: string }
  | { readonly kind: 'events' | 'note'; readonly stream: string; readonly text: string }
type Asked =
  | Delivered
  | { readonly kind: 'use'; readonly use: string; readonly from: string; readonly stream: string }
  | { readonly kind: 'session'; readonly use: string; readonly stream: string; readonly session: string }
  | { readonly kind: 'release'; readonly use: string }
type Answered =
  | { readonly kind: 'yes'; readonly use: string; readonly session?: string | undefined }
  | { readonly kind: 'no' | 'ended'; readonly use: string }

type Answer = Answered & { readonly kind: 'yes' }

interface Use {
  readonly ended: AbortController
  answer: (answer: Answer | undefined) => void
}

interface Lent {
  readonly from: string
  readonly stop: () => void
}

export class ClientStreams {
  readonly #channels = new WorkerChannels<Asked | Answered>(CHANNEL_PREFIX, (message) => this.#receive(message))
  readonly #streams = new Map<string, ClientStream>()
  /** Of streams of other workers. */
  readonly #uses = new Map<string, Use>()
  /** Of streams of this worker, by other workers. */
  readonly #lent = new Map<string, Lent>()

  get isFull(): boolean {
    return this.#streams.size >= STREAMS_MAX
  }

  open(owner: StreamOwner): ClientStream {
    this.#channels.open()
    const id = this.#channels.newId()
    const stream = new ClientStream(id, { ...owner, onEnd: (session) => this.#end(id, () => owner.onEnd(session)) })
    this.#streams.set(id, stream)
    return stream
  }

  /** undefined: the stream has ended, or belongs to another replica. */
  async use(id: string): Promise<UsedStream | undefined> {
    const worker = workerOf(id)
    if (worker === this.#channels.worker) return this.#streams.get(id)
    return worker === undefined ? undefined : this.#useRemote(worker, id)
  }

  #end(id: string, onEnd: () => void): void {
    this.#streams.delete(id)
    onEnd()
  }

  async #useRemote(worker: string, stream: string): Promise<UsedStream | undefined> {
    this.#channels.open()
    const use = randomUUID()
    const ended = new AbortController()
    this.#uses.set(use, { ended, answer: () => {} })
    const ready = await this.#ask(worker, { kind: 'use', use, from: this.#channels.worker, stream })
    if (ready === undefined) {
      this.#uses.delete(use)
      return undefined
    }
    const post = (message: Asked): void => this.#channels.post(worker, message)
    return {
      session: ready.session,
      signal: ended.signal,
      setSession: async (session) => (await this.#ask(worker, { kind: 'session', use, stream, session })) !== undefined,
      initialized: () => post({ kind: 'initialized', stream }),
      send: (text) => post({ kind: 'events', stream, text }),
      note: (text) => post({ kind: 'note', stream, text }),
      release: () => {
        this.#uses.delete(use)
        post({ kind: 'release', use })
      },
    }
  }

  async #ask(worker: string, message: Asked & { readonly use: string }): Promise<Answer | undefined> {
    const use = this.#uses.get(message.use)
    if (use === undefined) return undefined
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
    use.answer = resolve
    const timer = setTimeout(() => resolve(undefined), ANSWER_TIMEOUT_MS)
    this.#channels.post(worker, message)
    const answer = await promise
    clearTimeout(timer)
    return answer
  }

  #receive(message: Asked | Answered): void {
    if (message.kind === 'use') this.#lend(message)
    else if (message.kind === 'session') void this.#setSession(message)
    else if (message.kind === 'release') this.#takeBack(message.use)
    else if (message.kind === 'ended') this.#uses.get(message.use)?.ended.abort()
    else if ('use' in message) this.#uses.get(message.use)?.answer(message.kind === 'yes' ? message : undefined)
    else this.#streams.get(message.stream)?.deliver(message)
  }

  #lend({ use, from, stream }: Asked & { readonly kind: 'use' }): void {
    const lent = this.#streams.get(stream)
    if (lent === undefined) return this.#channels.post(from, { kind: 'no', use })
    const onEnd = (): void => {
      this.#lent.delete(use)
      this.#channels.post(from, { kind: 'ended', use })
    }
    lent.signal.addEventListener('abort', onEnd)
    this.#lent.set(use, { from, stop: () => lent.signal.removeEventListener('abort', onEnd) })
    this.#channels.post(from, { kind: 'yes', use, session: lent.session })
  }

  async #setSession({ use, stream, session }: Asked & { readonly kind: 'session' }): Promise<void> {
    const lent = this.#lent.get(use)
    if (lent === undefined) return
    const isSet = (await this.#streams.get(stream)?.setSession(session)) === true
    this.#channels.post(lent.from, { kind: isSet ? 'yes' : 'no', use })
  }

  #takeBack(use: string): void {
    this.#lent.get(use)?.stop()
    this.#lent.delete(use)
  }
}

/** A stream in its worker. */
export class ClientStream implements UsedStream {
  readonly id: string
  readonly #owner: StreamOwner
  readonly #ended = new AbortController()
  readonly #events: MessageQueue<Buffer>
  #session: string | undefined = undefined

  constructor(id: string, owner: StreamOwner) {
    this.id = id
    this.#owner = owner
    this.#events = new MessageQueue<Buffer>(() => {
      this.#ended.abort()
      owner.onEnd(this.#session)
    })
  }

  /** For the client. It ends with an error if the client does not read. */
  get events(): Cancellable<Buffer> {
    return this.#events
  }

  get session(): string | undefined {
    return this.#session
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  setSession(session: string): Promise<boolean> {
    if (this.#session !== undefined || this.signal.aborted) return Promise.resolve(false)
    this.#session = session
    return Promise.resolve(true)
  }

  initialized(): void {
    if (this.#session !== undefined && !this.signal.aborted) this.#owner.onInitialized(this.#session)
  }

  /** From another worker. */
  deliver(message: Delivered): void {
    if (message.kind === 'initialized') this.initialized()
    else if (message.kind === 'events') this.send(message.text)
    else this.note(message.text)
  }

  send(events: string): void {
    const bytes = Buffer.from(events)
    this.#events.push(bytes, bytes.length)
  }

  note(detail: string): void {
    this.#owner.onNote(detail)
  }

  release(): void {
    // The stream is here until its end.
  }
}
