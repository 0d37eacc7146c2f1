// Ties a worker's core to its thread: messages in and out, log lines into the ring. An uncaught exception ends the
// thread; main replaces it.
import { parentPort, workerData } from 'node:worker_threads'
import { useCatalog } from '../llm/cost/current-catalog.ts'
import { useTokenTables } from '../llm/tokens/current-tables.ts'
import { lineRingWriter } from '../log/line-ring.ts'
import type { MainToWorker, WorkerSettings, WorkerToMain } from './messages.ts'
import { WorkerCore } from './worker-core.ts'
import type { WorkerParts } from './worker-parts.ts'

export function runWorker(partsFor: (settings: WorkerSettings) => WorkerParts): void {
  const port = parentPort
  if (port === null) throw new Error('a worker runs in a thread of the proxy')
  // Set by worker-pool.ts, the only place that starts workers.
  const settings = workerData as WorkerSettings
  const send = (message: WorkerToMain): void => port.postMessage(message)
  const core = new WorkerCore({
    settings,
    parts: partsFor(settings),
    send,
    write: lineRingWriter(settings.logRing, () => send({ type: 'log' })),
  })
  port.on('message', (message: MainToWorker) => {
    if (message.type === 'modelCatalog') useCatalog(message.catalog)
    else if (message.type === 'tokenTables') useTokenTables(message.tables)
    else core.receive(message)
  })
  send({ type: 'started' })
}
