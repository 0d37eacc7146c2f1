// A worker of real parts that dies on demand, for the tests of the pool: `/throw` raises an uncaught exception,
// `/exit` ends the thread, `/hang` never comes back, `/late` keeps it busy for 3 s. A configuration with a bind key
// that begins with `deadly` kills it while it compiles, and with one that begins with `patient` compiling lasts until
// the worker has answered another request.
import { workerData } from 'node:worker_threads'
import { compileSteps } from '../config/compile.ts'
import type { CompileSteps } from '../config/compiled.ts'
import { ConfigError } from '../config/compiled.ts'
import { partLoader } from '../config/parts.ts'
import type { RequestHandler } from '../http/handler.ts'
import { createGrpcClient } from '../grpc/client.ts'
import { sharedRateLimitStore } from '../policy/limits/rate-limit-store.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import { serverFactory } from './create-server.ts'
import { DnsCache } from '../upstream/dns-cache.ts'
import { runWorker } from './worker-thread.ts'

/** Requests of this worker. */
const requests = { answered: 0 }
const LATE_MS = 3000
const TURN_MS = 400

const compile: CompileSteps = function* (input, environment, previous) {
  for (const { key } of input.config.binds) {
    if (key.startsWith('deadly')) process.exit(7)
    // Set by worker-pool.ts.
    const { workerId } = workerData as { workerId: number }
    if (key.startsWith('split') && workerId === 1) throw new ConfigError('only some workers can do this')
    const before = requests.answered
    while (key.startsWith('patient') && requests.answered === before) yield
    if (key.startsWith('bad')) throw new ConfigError(`bind ${key} is bad`)
  }
  const compiled = yield* compileSteps(input, environment, previous)
  const binds = new Map([...compiled.binds].map(([port, bind]) => [port, { ...bind, handler: crashing(bind.handler) }]))
  return { ...compiled, binds }
}

/** Turns the event loop late, over and over, for a while. */
function beLate(): void {
  const endMs = performance.now() + LATE_MS
  const timer = setInterval(() => {
    const turnMs = performance.now() + TURN_MS
    while (performance.now() < turnMs);
    if (performance.now() > endMs) clearInterval(timer)
  })
}

function crashing(handler: RequestHandler): RequestHandler {
  return {
    limits: handler.limits,
    handle(exchange, respond) {
      if (exchange.request.path === '/throw') {
        setImmediate(() => {
          throw new Error('thrown on demand')
        })
      } else if (exchange.request.path === '/exit') process.exit(3)
      else if (exchange.request.path === '/hang') for (;;);
      else if (exchange.request.path === '/late') {
        beLate()
        handler.handle(exchange, respond)
      } else handler.handle(exchange, respond)
    },
    finished: (exchange, isComplete) => {
      requests.answered++
      handler.finished(exchange, isComplete)
    },
    transferred() {},
    refused: (info) => handler.refused(info),
  }
}

runWorker((settings) => ({
  partSteps: partLoader(settings),
  compileSteps: compile,
  createServer: serverFactory(new DnsCache()),
  createClient: () => createUpstreamClient(),
  createGrpc: () => createGrpcClient(),
  createRateLimits: sharedRateLimitStore,
}))
