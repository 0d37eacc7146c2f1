// Entry of a worker thread: names the real parts of a worker. Started by the pool only.
import { compileConfig } from './config/compile.ts'
import { createGrpcClient } from './grpc/client.ts'
import { sharedRateLimitStore } from './policy/rate-limit-store.ts'
import { serverFactory } from './runtime/create-server.ts'
import { runWorker } from './runtime/worker-thread.ts'
import { dynamicForwarding } from './upstream/dynamic.ts'
import { createUpstreamClient } from './upstream/client.ts'

runWorker({
  compileConfig,
  createServer: serverFactory(),
  createClient: (connected) => createUpstreamClient({ connected }),
  createDynamic: (allowed, connected) => dynamicForwarding(allowed, { connected }),
  createGrpc: (connected) => createGrpcClient(undefined, connected),
  createRateLimits: sharedRateLimitStore,
})
