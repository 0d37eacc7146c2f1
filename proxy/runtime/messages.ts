// What main thread and workers say to each other. Plain data: everything crosses by structured clone.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'

export interface WorkerSettings {
  readonly workerId: number
  /** Address listeners bind to: `::` (default), `127.0.0.1` in `gw run`. */
  readonly listenAddress: string
  readonly logFormat: 'text' | 'json'
  readonly logLevel: string
  readonly accessLog: boolean
  /** 32 bytes for sealing MCP sessions; undefined: ids are only encoded. */
  readonly sessionKey: Uint8Array | undefined
  readonly podName: string | undefined
  readonly podNamespace: string | undefined
  /** Counters and histograms of this worker, see metrics.ts. */
  readonly metricsBuffer: SharedArrayBuffer
}

export type MainToWorker =
  | {
      readonly type: 'config'
      readonly generation: number
      readonly config: RenderedConfig
      readonly secrets: RenderedSecrets
      /** Token buckets shared by all workers; slot by limit key, see rate-limit-store.ts. */
      readonly rateLimits: { readonly buffer: SharedArrayBuffer; readonly slots: ReadonlyMap<string, number> }
    }
  | { readonly type: 'drain'; readonly minMs: number; readonly maxMs: number }
  | { readonly type: 'logLevel'; readonly directive: string }

export type WorkerToMain =
  | { readonly type: 'started' }
  | { readonly type: 'applied'; readonly generation: number; readonly warnings: readonly string[] }
  | { readonly type: 'rejected'; readonly generation: number; readonly message: string }
  | { readonly type: 'series'; readonly metric: string; readonly labels: readonly string[]; readonly offset: number }
  | { readonly type: 'drained' }
