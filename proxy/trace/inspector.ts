// Answers what main asks of this thread: arms watches, samples profiles, lists what it works on.
import type { MessagePort } from 'node:worker_threads'
import type { components } from '#api/admin/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { openSessions } from '../exchange/open-sessions.ts'
import type { InspectAnswer, InspectRequest, RouteQuestion, WorkerConnections } from './messages.ts'
import { profileCpu, profileHeap, watchHeap } from '#api/profile/profiler.ts'
import type { TraceTap } from './tap.ts'
import { taskList } from './task-list.ts'

export interface InspectorParts {
  readonly tap: TraceTap
  readonly openConnections: () => number
  readonly running: () => Iterable<Exchange>
  readonly connections: (labels: ReadonlySet<string>) => WorkerConnections
  /** undefined: no configuration is in force. */
  readonly explainRoute: (question: RouteQuestion) => components['schemas']['RouteExplanation'] | undefined
}

export class Inspector {
  readonly #parts: InspectorParts
  #isProfiling = false

  constructor(parts: InspectorParts) {
    this.#parts = parts
    watchHeap()
  }

  receive(request: InspectRequest, port: MessagePort): void {
    const { tap, openConnections, running } = this.#parts
    if (request.kind === 'trace') tap.arm(request, port)
    else if (request.kind === 'tasks') {
      answer(port, { type: 'tasks', tasks: taskList(openConnections(), running(), performance.now()) })
    } else if (request.kind === 'route') {
      const explanation = this.#parts.explainRoute(request.question)
      if (explanation === undefined) answer(port, { type: 'refused', message: 'no configuration is in force yet' })
      else answer(port, { type: 'route', explanation })
    } else if (request.kind === 'connections') {
      answer(port, { type: 'connections', connections: this.#parts.connections(new Set(request.labels)) })
    } else if (request.kind === 'mcpSessions') {
      answer(port, { type: 'mcpSessions', report: openSessions.report() })
    } else void this.#profile(request, port)
  }

  /** One at a time: the engine has one sampler for each thread. */
  async #profile(
    request: Extract<InspectRequest, { kind: 'cpuProfile' | 'heapProfile' }>,
    port: MessagePort,
  ): Promise<void> {
    if (this.#isProfiling) {
      answer(port, { type: 'refused', message: 'another profile of this thread is running' })
      return
    }
    this.#isProfiling = true
    const gone = new AbortController()
    port.on('close', () => gone.abort())
    port.on('message', () => undefined)
    try {
      const profile =
        request.kind === 'cpuProfile'
          ? await profileCpu(request.seconds, request.frequency, gone.signal)
          : await profileHeap(request.seconds, gone.signal)
      answer(port, { type: 'profile', profile })
    } catch (error) {
      answer(port, { type: 'refused', message: String(error) })
    } finally {
      this.#isProfiling = false
    }
  }
}

function answer(port: MessagePort, message: InspectAnswer): void {
  port.postMessage(message)
  port.close()
}
