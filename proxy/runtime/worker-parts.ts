// What a worker is made of. worker.ts names the real parts; tests put others in their place.
import type { CompileConfig } from '../config/compiled.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { RateLimitBuffer, RateLimitStore } from '../policy/rate-limit-store.ts'
import type { UpstreamClient } from '../upstream/target.ts'

/** The server of one bind, as the HTTP engine makes it. */
export interface BindServer {
  listen(options: { host: string; port: number; reusePort: boolean }): Promise<unknown>
  /** From the next request on; running ones finish with the old one. */
  setHandler(handler: RequestHandler): void
  stopAccepting(): void
  /** Every connection ends after its running response. */
  drain(): void
  destroyAll(): void
  readonly openConnections: number
  readonly activeRequests: number
}

export interface WorkerParts {
  readonly compileConfig: CompileConfig
  readonly createServer: (handler: RequestHandler) => BindServer
  readonly createClient: () => UpstreamClient
  readonly createRateLimits: (shared: RateLimitBuffer) => RateLimitStore
}
