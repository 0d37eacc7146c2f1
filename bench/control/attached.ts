// Follows statuses as a user's tools do: one watch counts the HTTPRoutes with the condition Accepted, another one reads
// the number of routes in the status of the Gateway's listener.
import { setTimeout as delay } from 'node:timers/promises'
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import { createTransport } from '#operator/kube/transport.ts'
import { until } from '../../test/wait.ts'
import { GATEWAYS_PATH, ROUTES_PATH } from './cluster.ts'

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

interface WatchedGateway {
  readonly status?: { readonly listeners?: ReadonlyArray<{ readonly attachedRoutes: number }> }
}

/** The times, by performance.now, when all routes had the condition, and when the Gateway counted all of them. */
export interface AttachedAt {
  readonly accepted: number
  readonly counted: number
}

export interface AttachedCount {
  /** Resolves when this number of routes is attached. */
  readonly reached: (routes: number, deadlineMs: number) => Promise<AttachedAt>
  stop(): void
}

export function countAttached(server: RealApiServer): AttachedCount {
  const accepted = new Set<string>()
  let counted = 0
  const stopping = new AbortController()
  const transport = createTransport(server.config)
  // One watch of HTTPRoutes, one of the Gateway.
  void follow(ROUTES_PATH, (type, object) => {
    const route = object as WatchedRoute
    if (type !== 'DELETED' && isAccepted(route)) accepted.add(route.metadata.name)
    else accepted.delete(route.metadata.name)
  })
  void follow(GATEWAYS_PATH, (type, object) => {
    counted = type === 'DELETED' ? 0 : routesOf(object as WatchedGateway)
  })
  return {
    reached: async (routes, deadlineMs) => {
      const at = (what: string, count: () => number): Promise<number> =>
        until(what, () => count() >= routes, deadlineMs).then(() => performance.now())
      const both = [at('all accepted', () => accepted.size), at('all counted by the Gateway', () => counted)] as const
      const [acceptedAt, countedAt] = await Promise.all(both)
      return { accepted: acceptedAt, counted: countedAt }
    },
    stop: () => {
      stopping.abort()
      transport.close()
    },
  }

  /** A busy API server ends slow watches; a new one begins with all existing objects. */
  async function follow(collection: string, onObject: (type: string, object: unknown) => void): Promise<void> {
    const path = `${collection}?watch=1&timeoutSeconds=${WATCH_SECONDS}`
    const options = { signal: stopping.signal, idleMs: WATCH_SECONDS * 1000 }
    const onEvent = (event: unknown): void => {
      // A line of a watch.
      const { type, object } = event as { type: string; object: unknown }
      if (type !== 'ERROR') onObject(type, object)
    }
    while (!stopping.signal.aborted) {
      try {
        await transport.stream({ method: 'GET', path }, onEvent, options)
      } catch (error) {
        if (!stopping.signal.aborted) console.error(`watch of ${collection} broke`, error)
      }
      await delay(PAUSE_MS)
    }
  }
}

function routesOf({ status }: WatchedGateway): number {
  return (status?.listeners ?? []).reduce((sum, { attachedRoutes }) => sum + attachedRoutes, 0)
}

function isAccepted({ status }: WatchedRoute): boolean {
  const conditions = status?.parents?.flatMap((parent) => parent.conditions) ?? []
  return conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'True')
}
