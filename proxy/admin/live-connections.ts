// Open connections over all workers: of clients by port and listener, and to endpoints. The workers are asked for each
// answer: nothing is counted without a request for it.
import type { components } from '#api/admin/types.gen.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { askAll } from '../trace/ask.ts'
import type { Inspectable } from '../trace/hub.ts'
import type { WorkerConnections } from '../trace/messages.ts'

type Schemas = components['schemas']

/** Of the workers that answer in time. `labels`: of the endpoints whose connections are counted. */
export async function askConnections(
  workers: readonly Inspectable[],
  labels: readonly string[],
): Promise<readonly WorkerConnections[]> {
  const answers = await askAll(workers, { kind: 'connections', labels }, 'connections')
  return answers.map(({ connections }) => connections)
}

/** The answer of `/connections`. */
export function connectionsOf(
  config: Pick<RenderedConfig, 'binds' | 'listeners'>,
  workers: readonly WorkerConnections[],
): Schemas['Connections'] {
  const known = new Map<string, number>()
  const ports = new Map<number, number>()
  for (const { port, open, listeners } of workers.flatMap((worker) => worker.ports)) {
    ports.set(port, (ports.get(port) ?? 0) + open)
    for (const { gateway, listener, open: own } of listeners) {
      const key = keyOf(port, gateway, listener)
      known.set(key, (known.get(key) ?? 0) + own)
    }
  }
  const listenersOf = Map.groupBy(config.listeners, ({ bindKey }) => bindKey)
  return {
    workers: workers.length,
    listeners: config.binds.flatMap(({ key: bind, port, protocol = 'HTTP' }) => {
      const listeners = listenersOf.get(bind) ?? []
      const ofPort = ports.get(port) ?? 0
      return listeners.map(({ name: { gatewayNamespace, gatewayName, listenerName: listener } }) => {
        const gateway = `${gatewayNamespace}/${gatewayName}`
        const own = known.get(keyOf(port, gateway, listener)) ?? 0
        return {
          bind,
          gateway,
          listener,
          ofPort,
          ofListener: ownOf({ isTls: protocol === 'TLS', own, ofPort }, listeners.length),
        }
      })
    }),
  }
}

interface Counts {
  readonly isTls: boolean
  readonly own: number
  readonly ofPort: number
}

/** With TLS the handshake selects the listener; without, each request does, unless there is one listener only. */
function ownOf({ isTls, own, ofPort }: Counts, listeners: number): number | null {
  if (isTls) return own
  return listeners === 1 ? ofPort : null
}

function keyOf(port: number, gateway: string, listener: string): string {
  return `${port} ${gateway} ${listener}`
}
