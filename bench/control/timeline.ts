// The time of each step of a change, from watches of the API server: when they report the change, the delivery, the
// acknowledgement and the status.
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import { createTransport } from '#operator/kube/transport.ts'
import { GATEWAY, WATCHED_PATHS } from './cluster.ts'
import { type Spread, spreadOf } from '../figures.ts'

export type Moment =
  | 'watch reports change'
  | 'watch reports delivery'
  | 'first request served'
  | 'watch reports acknowledgement'
  | 'watch reports status'

export interface Moments {
  readonly moment: Moment
  /** After the response of the API server to the change. */
  readonly spread: Spread
  readonly count: number
}

export interface Timeline {
  /** Called before a change; moments until the next call belong to it. */
  begin(): void
  answered(atMs: number): void
  record(moment: Moment, atMs: number): void
  moments(): Moments[]
  stop(): void
}

/** The fields of ConfigMaps, routes and slices that the timeline reads. */
interface Watched {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation?: number }
  readonly status?: { readonly parents?: ReadonlyArray<{ readonly conditions: ReadonlyArray<Observed> }> }
}

interface Observed {
  readonly observedGeneration?: number
}

const WATCH_SECONDS = 900

/** Resolves when all watches are requested. */
export async function followTimeline(server: RealApiServer): Promise<Timeline> {
  const stopping = new AbortController()
  const transport = createTransport(server.config)
  const changes: { answeredMs: number; readonly at: Map<Moment, number> }[] = []
  const record = (moment: Moment, atMs: number): void => {
    const at = changes.at(-1)?.at
    if (at !== undefined && !at.has(moment)) at.set(moment, atMs)
  }
  const onEvent = (event: unknown): void => {
    // A line of a watch.
    const moment = momentOf((event as { readonly object: Watched }).object)
    if (moment !== undefined) record(moment, performance.now())
  }
  for (const path of WATCHED_PATHS) {
    const { body } = await server.send({ method: 'GET', path: `${path}?limit=1` })
    // A list.
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
    const query = `watch=1&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${resourceVersion}`
    const options = { signal: stopping.signal, idleMs: WATCH_SECONDS * 1000 }
    transport.stream({ method: 'GET', path: `${path}?${query}` }, onEvent, options).catch((error: unknown) => {
      if (!stopping.signal.aborted) console.error('a watch of the timeline broke', path, error)
    })
  }
  return {
    begin: () => void changes.push({ answeredMs: 0, at: new Map() }),
    answered: (atMs) => {
      const last = changes.at(-1)
      if (last !== undefined) last.answeredMs = atMs
    },
    record,
    moments: () => momentsOf(changes),
    stop: () => {
      stopping.abort()
      transport.close()
    },
  }
}

function momentOf({ kind, metadata: { name, generation }, status }: Watched): Moment | undefined {
  if (kind === 'ConfigMap') {
    if (name === `${GATEWAY}-acknowledgements`) return 'watch reports acknowledgement'
    return name.startsWith(`${GATEWAY}-`) ? 'watch reports delivery' : undefined
  }
  const conditions = status?.parents?.flatMap((parent) => parent.conditions) ?? []
  const isReported = conditions.some(({ observedGeneration }) => observedGeneration === generation)
  return kind === 'HTTPRoute' && isReported ? 'watch reports status' : 'watch reports change'
}

function momentsOf(
  changes: readonly { readonly answeredMs: number; readonly at: ReadonlyMap<Moment, number> }[],
): Moments[] {
  const times = new Map<Moment, number[]>()
  for (const { answeredMs, at } of changes) {
    for (const [moment, atMs] of at) {
      const known = times.get(moment) ?? []
      times.set(moment, known)
      known.push(atMs - answeredMs)
    }
  }
  return [...times]
    .map(([moment, list]) => ({ moment, spread: spreadOf(list), count: list.length }))
    .toSorted((a, b) => a.spread.p50 - b.spread.p50)
}
