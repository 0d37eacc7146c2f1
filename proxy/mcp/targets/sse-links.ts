// The links of this process by id: each lives in the worker that opened it, and serves calls of all workers. A worker
// reaches the links of another one through a channel that has the name of the other worker.
import { randomUUID } from 'node:crypto'
import { parseMessage } from '../jsonrpc.ts'
import { WorkerChannels, workerOf } from '../worker-channels.ts'
import { MessageQueue } from './message-queue.ts'
import type { LinkCall, LinkReader, SseLink } from './sse-link.ts'
import { TargetError } from './target.ts'

/** Of one worker; each holds a connection to a server. */
export const LINKS_MAX = 4096
/** The same as for other MCP sessions (data-plane supplement section 4.3). */
const IDLE_MS = 30 * 60_000
const REAP_INTERVAL_MS = 30_000
/** A worker that does not respond has ended. */
const ANSWER_TIMEOUT_MS = 5000
const CHANNEL_PREFIX = 'gw-mcp-links-'

/** What a link is used for. `Post`: only its path. */
export type Purpose = LinkCall | 'Listener' | 'Post'

export interface UsedLink {
  /** Path for messages. */
  readonly path: string
  readonly endpoint: string
  readonly messages: MessageQueue
}

interface Held {
  readonly link: SseLink
  lastUsedMs: number
}

/** Between workers. `use`: chosen by the asking worker, whose name is in `from`. */
type Asked =
  | { readonly kind: 'use'; readonly use: string; readonly from: string; readonly link: string; readonly for: Purpose }
  | { readonly kind: 'stop'; readonly use: string }
  | { readonly kind: 'close'; readonly link: string }
type Answered =
  | { readonly kind: 'ready'; readonly use: string; readonly path: string; readonly endpoint: string }
  | { readonly kind: 'unknown'; readonly use: string }
  | { readonly kind: 'message'; readonly use: string; readonly text: string }
  | { readonly kind: 'end'; readonly use: string; readonly error: string | undefined }

interface RemoteUse {
  readonly queue: MessageQueue
  readonly ready: (place: { readonly path: string; readonly endpoint: string } | undefined) => void
}

export class SseLinks {
  readonly #links = new Map<string, Held>()
  /** Uses of links of other workers. */
  readonly #remote = new Map<string, RemoteUse>()
  /** How other workers stop their uses of links of this one. */
  readonly #lent = new Map<string, () => void>()
  readonly #channels = new WorkerChannels<Asked | Answered>(CHANNEL_PREFIX, (message) => this.#receive(message))
  #reaper: NodeJS.Timeout | undefined = undefined

  get isFull(): boolean {
    return this.#links.size >= LINKS_MAX
  }

  newId(): string {
    return this.#channels.newId()
  }

  add(id: string, link: SseLink): void {
    this.#channels.open()
    this.#links.set(id, { link, lastUsedMs: Date.now() })
    if (this.#reaper === undefined) {
      this.#reaper = setInterval(() => this.reap(Date.now()), REAP_INTERVAL_MS)
      this.#reaper.unref()
    }
  }

  remove(id: string): void {
    this.#links.delete(id)
    if (this.#links.size > 0) return
    clearInterval(this.#reaper)
    this.#reaper = undefined
  }

  /** undefined: the session of this link is over. */
  async use(id: string, purpose: Purpose): Promise<UsedLink | undefined> {
    const worker = workerOf(id)
    if (worker !== this.#channels.worker) return worker === undefined ? undefined : this.#useRemote(worker, id, purpose)
    const held = this.#links.get(id)
    if (held === undefined) return undefined
    held.lastUsedMs = Date.now()
    const { link } = held
    const path = await link.path
    let stop = (): void => {}
    const queue = new MessageQueue(() => stop())
    stop = attach(link, purpose, {
      onMessage: (message, text) => queue.push(message, text.length),
      onEnd: (error) => queue.end(error),
    })
    return { path, endpoint: link.endpoint, messages: queue }
  }

  /** Ends the session: the server sees that its stream is closed. */
  close(id: string): void {
    const worker = workerOf(id)
    if (worker === this.#channels.worker) this.#links.get(id)?.link.close()
    else if (worker !== undefined) this.#channels.post(worker, { kind: 'close', link: id })
  }

  reap(nowMs: number): void {
    for (const { link, lastUsedMs } of this.#links.values()) {
      if (!link.isInUse && nowMs - lastUsedMs > IDLE_MS) link.close()
    }
  }

  async #useRemote(worker: string, link: string, purpose: Purpose): Promise<UsedLink | undefined> {
    this.#channels.open()
    const use = randomUUID()
    const { promise, resolve } = Promise.withResolvers<{ path: string; endpoint: string } | undefined>()
    const queue = new MessageQueue(() => {
      this.#remote.delete(use)
      this.#channels.post(worker, { kind: 'stop', use })
    })
    this.#remote.set(use, { queue, ready: resolve })
    const timer = setTimeout(() => resolve(undefined), ANSWER_TIMEOUT_MS)
    this.#channels.post(worker, { kind: 'use', use, from: this.#channels.worker, link, for: purpose })
    const place = await promise
    clearTimeout(timer)
    if (place !== undefined) return { ...place, messages: queue }
    queue.cancel()
    return undefined
  }

  #receive(message: Asked | Answered): void {
    if (message.kind === 'use') void this.#lend(message)
    else if (message.kind === 'stop') this.#stopLent(message.use)
    else if (message.kind === 'close') this.close(message.link)
    else this.#answered(message)
  }

  #answered(message: Answered): void {
    const remote = this.#remote.get(message.use)
    if (remote === undefined) return
    if (message.kind === 'ready') remote.ready(message)
    else if (message.kind === 'unknown') remote.ready(undefined)
    else if (message.kind === 'end') remote.queue.end(endOf(message.error))
    else {
      const parsed = parseMessage(message.text)
      if (parsed !== undefined) remote.queue.push(parsed, message.text.length)
    }
  }

  async #lend({ use, from, link: id, for: purpose }: Asked & { readonly kind: 'use' }): Promise<void> {
    const held = this.#links.get(id)
    // A link whose stream has ended rejects; it is unknown from then on.
    const path = await held?.link.path.catch(() => undefined)
    if (held === undefined || path === undefined) {
      this.#channels.post(from, { kind: 'unknown', use })
      return
    }
    held.lastUsedMs = Date.now()
    this.#channels.post(from, { kind: 'ready', use, path, endpoint: held.link.endpoint })
    let isOver = false
    const stop = attach(held.link, purpose, {
      onMessage: (_, text) => this.#channels.post(from, { kind: 'message', use, text }),
      onEnd: (error) => {
        isOver = true
        this.#lent.delete(use)
        this.#channels.post(from, { kind: 'end', use, error: error?.message })
      },
    })
    if (!isOver) this.#lent.set(use, stop)
  }

  #stopLent(use: string): void {
    this.#lent.get(use)?.()
    this.#lent.delete(use)
  }
}

function attach(link: SseLink, purpose: Purpose, reader: LinkReader): () => void {
  if (purpose === 'Post') return () => {}
  return purpose === 'Listener' ? link.listen(reader) : link.call(purpose, reader)
}

function endOf(error: string | undefined): Error | undefined {
  return error === undefined ? undefined : new TargetError(error)
}
