// Follows the statuses of HTTPRoutes as a user's tools do: one watch that counts those whose parent says Accepted.
import { setTimeout as delay } from 'node:timers/promises'
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import { createTransport } from '#operator/kube/transport.ts'
import { ROUTES_PATH } from './cluster.ts'

const WATCH_SECONDS = 900
const PAUSE_MS = 100

interface WatchedRoute {
  readonly metadata: { readonly name: string }
  readonly status?: { readonly parents?: ReadonlyArray<{ readonly conditions: readonly Condition[] }> }
}

interface Condition {
  readonly type: string
  readonly status: string
}

export interface AttachedCount {
  readonly count: () => number
  stop(): void
}

export function countAttached(server: RealApiServer): AttachedCount {
  const attached = new Set<string>()
  const stopping = new AbortController()
  const transport = createTransport(server.config)
  const path = `${ROUTES_PATH}?watch=1&timeoutSeconds=${WATCH_SECONDS}`
  const onEvent = (event: unknown): void => {
    // A line of a watch of HTTPRoutes.
    const { type, object } = event as { type: string; object: WatchedRoute }
    if (type === 'ERROR') return
    if (type !== 'DELETED' && isAccepted(object)) attached.add(object.metadata.name)
    else attached.delete(object.metadata.name)
  }
  const options = { signal: stopping.signal, idleMs: WATCH_SECONDS * 1000 }
  // A busy API server ends watches that are slow to take; a new one begins with everything there is.
  const follow = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await transport.stream({ method: 'GET', path }, onEvent, options)
      } catch (error) {
        if (!stopping.signal.aborted) console.error('watch of the routes broke', error)
      }
      await delay(PAUSE_MS)
    }
  }
  void follow()
  return {
    count: () => attached.size,
    stop: () => {
      stopping.abort()
      transport.close()
    },
  }
}

function isAccepted({ status }: WatchedRoute): boolean {
  const conditions = status?.parents?.flatMap((parent) => parent.conditions) ?? []
  return conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'True')
}
