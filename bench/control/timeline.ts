// Where the time of a change goes, as anybody can see it who watches the API server: when it tells of the change, of
// the delivery, of the acknowledgement and of the status.
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import { createTransport } from '#operator/kube/transport.ts'
import { GATEWAY, WATCHED_PATHS } from './cluster.ts'
import { type Spread, spreadOf } from './figures.ts'

export type Moment =
  | 'change told by a watch'
  | 'delivery told by a watch'
  | 'first request served'
  | 'acknowledgement told by a watch'
  | 'status told by a watch'

export interface Moments {
  readonly moment: Moment
  /** After the answer of the API server to the change. */
  readonly spread: Spread
  readonly count: number
}

export interface Timeline {
  /** A change is about to be made; what is told before the next one belongs to it. */
  begin(): void
  answered(atMs: number): void
  tell(moment: Moment, atMs: number): void
  moments(): Moments[]
  stop(): void
}

/** What is told of ConfigMaps, routes and slices. */
interface Told {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation?: number }
  readonly status?: { readonly parents?: ReadonlyArray<{ readonly conditions: ReadonlyArray<Observed> }> }
}

interface Observed {
  readonly observedGeneration?: number
}

const WATCH_SECONDS = 900

/** Resolves when all watches are asked for. */
export async function followTimeline(server: RealApiServer): Promise<Timeline> {
  const stopping = new AbortController()
  const transport = createTransport(server.config)
  const changes: { answeredMs: number; readonly at: Map<Moment, number> }[] = []
  const tell = (moment: Moment, atMs: number): void => {
    const at = changes.at(-1)?.at
    if (at !== undefined && !at.has(moment)) at.set(moment, atMs)
  }
  const onEvent = (event: unknown): void => {
    // A line of a watch.
    const moment = momentOf((event as { readonly object: Told }).object)
    if (moment !== undefined) tell(moment, performance.now())
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
    tell,
    moments: () => momentsOf(changes),
    stop: () => {
      stopping.abort()
      transport.close()
    },
  }
}

function momentOf({ kind, metadata: { name, generation }, status }: Told): Moment | undefined {
  if (kind === 'ConfigMap') {
    if (name === `${GATEWAY}-acknowledgements`) return 'acknowledgement told by a watch'
    return name.startsWith(`${GATEWAY}-`) ? 'delivery told by a watch' : undefined
  }
  const conditions = status?.parents?.flatMap((parent) => parent.conditions) ?? []
  const isSaid = conditions.some(({ observedGeneration }) => observedGeneration === generation)
  return kind === 'HTTPRoute' && isSaid ? 'status told by a watch' : 'change told by a watch'
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
