// All HTTP/2 connections to backends of one worker: a pool for each target.
import { type Sweepable, Sweeper } from '../socket/deadlines.ts'
import type { UpstreamTarget } from './target.ts'
import { Http2Pool, type Http2PoolShared } from './http2-pool.ts'

export class Http2Upstream implements Sweepable {
  readonly #shared: Http2PoolShared
  readonly #pools = new Map<string, Http2Pool>()
  readonly #sweeper = new Sweeper()

  constructor(shared: Http2PoolShared) {
    this.#shared = shared
  }

  get openConnections(): number {
    let count = 0
    for (const pool of this.#pools.values()) count += pool.openCount
    return count
  }

  get idleConnections(): number {
    let count = 0
    for (const pool of this.#pools.values()) count += pool.idleCount
    return count
  }

  pools(): Iterable<Http2Pool> {
    return this.#pools.values()
  }

  get size(): number {
    return this.#pools.size
  }

  has(key: string): boolean {
    return this.#pools.has(key)
  }

  pool(target: UpstreamTarget): Http2Pool {
    const known = this.#pools.get(target.key)
    if (known !== undefined) return known
    const pool = new Http2Pool(target, this.#shared)
    this.#pools.set(target.key, pool)
    this.#sweeper.add(this)
    return pool
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.destroyAll()
    this.#pools.clear()
    this.#sweeper.remove(this)
  }

  sweep(nowMs: number): void {
    for (const [key, pool] of this.#pools) {
      pool.sweep(nowMs)
      if (pool.isEmpty) this.#pools.delete(key)
    }
    if (this.#pools.size === 0) this.#sweeper.remove(this)
  }
}
