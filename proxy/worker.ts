// Entry of a worker thread: names the real parts of a worker. Started by the pool only.
import { compileConfig } from './config/compile.ts'
import { createHttpServer } from './http/server.ts'
import { sharedRateLimitStore } from './policy/rate-limit-store.ts'
import { runWorker } from './runtime/worker-thread.ts'
import { createUpstreamClient } from './upstream/client.ts'

runWorker({
  compileConfig,
  createServer: createHttpServer,
  createClient: () => createUpstreamClient(),
  createRateLimits: sharedRateLimitStore,
})
