// What lists of servers showed, remembered for a short while in each worker and for each client. Never an authority.
import { hash } from 'node:crypto'
import type { Exchange } from '../exchange/exchange.ts'
import { principalOf } from './principal.ts'

const LIST_MS = 30_000
/** Of all clients of one backend in one worker; the oldest lists are dropped. */
const ENTRIES_MAX = 65_536

interface List<T> {
  readonly topic: string
  readonly entries: ReadonlyMap<string, T>
  readonly untilMs: number
}

/** Entries by name. `topic`: what a list is about, such as the tools of a server. */
export class RememberedLists<T> {
  readonly #now: () => number
  /** The oldest first. */
  readonly #lists = new Map<string, List<T>>()
  #count = 0

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** undefined: not remembered. */
  get(exchange: Exchange, topic: string): ReadonlyMap<string, T> | undefined {
    const key = keyOf(exchange, topic)
    const list = this.#lists.get(key)
    if (list === undefined || this.#now() < list.untilMs) return list?.entries
    this.#drop(key)
    return undefined
  }

  set(exchange: Exchange, topic: string, entries: ReadonlyMap<string, T>): void {
    const key = keyOf(exchange, topic)
    this.#drop(key)
    this.#lists.set(key, { topic, entries, untilMs: this.#now() + LIST_MS })
    this.#count += weightOf(entries)
    for (const oldest of this.#lists.keys()) {
      if (this.#count <= ENTRIES_MAX) break
      this.#drop(oldest)
    }
  }

  forget(exchange: Exchange, topic: string): void {
    this.#drop(keyOf(exchange, topic))
  }

  /** Of all clients. */
  forgetAll(topic: string): void {
    for (const [key, list] of this.#lists) if (list.topic === topic) this.#drop(key)
  }

  #drop(key: string): void {
    const list = this.#lists.get(key)
    if (list !== undefined) this.#count -= weightOf(list.entries)
    this.#lists.delete(key)
  }
}

/** Empty lists count too. */
function weightOf(entries: ReadonlyMap<string, unknown>): number {
  return entries.size + 1
}

/** Servers may show each client other items: by its identity, and by a token that only they verify. */
function keyOf(exchange: Exchange, topic: string): string {
  const token = hash('sha256', exchange.request.headers.getAll('authorization').join(), 'base64url')
  return `${topic} ${principalOf(exchange)} ${token}`
}
