// The last hour of endpoints, a point for each minute: for the web UI. Main thread only; reads shared memory. Its
// memory is bounded: it keeps endpoints that had requests, and prefers those with failures.
import {
  type EndpointBuffer,
  type EndpointFigures,
  isAilingAt,
  readFigures,
  requestCounts,
} from '../backend/endpoint-store.ts'
import { MINUTE_MS, MINUTES, MinuteRing, type MinutePoints } from './minute-ring.ts'

/** Of a minute four: an eviction of some seconds is seen by its count. */
const SAMPLE_MS = MINUTE_MS / 4
/** 200 endpoints with 60 points take less than 1 MiB. */
const ENDPOINTS_MAX = 200

export interface EndpointHistoryParts {
  /** undefined: no configuration is in force. */
  readonly memory: () => EndpointBuffer | undefined
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number
}

interface Track {
  readonly ring: MinuteRing
  requests: number
  evictions: number
  /** The last minute with a request. */
  activeMinute: number
}

export class EndpointHistory {
  readonly #memory: EndpointHistoryParts['memory']
  readonly #nowMs: () => number
  readonly #firstMinute: number
  readonly #tracks = new Map<string, Track>()
  readonly #sampling = setInterval(() => this.sample(), SAMPLE_MS).unref()
  #counts: Uint32Array = new Uint32Array()

  constructor({ memory, nowMs = () => performance.now() }: EndpointHistoryParts) {
    this.#memory = memory
    this.#nowMs = nowMs
    this.#firstMinute = minuteOf(nowMs())
  }

  close(): void {
    clearInterval(this.#sampling)
  }

  sample(): void {
    const shared = this.#memory()
    if (shared === undefined) return
    const minute = minuteOf(this.#nowMs())
    const tracked = new Set<number>()
    for (const [key, track] of this.#tracks) {
      const slot = shared.slots.get(key)
      const figures = readFigures(shared, key)
      if (slot === undefined || figures === undefined || minute - track.activeMinute >= MINUTES)
        this.#tracks.delete(key)
      else {
        tracked.add(slot)
        note(track, minute, figures)
      }
    }
    this.#addNew(shared, tracked, minute)
  }

  /** Of each endpoint that is kept, by key; the oldest point first, that of the current minute last. */
  shown(): ReadonlyMap<string, MinutePoints> {
    const last = minuteOf(this.#nowMs())
    const count = Math.min(MINUTES, last - this.#firstMinute + 1)
    return new Map([...this.#tracks].map(([key, { ring }]) => [key, ring.points(last, count)]))
  }

  /** Endpoints that had a request since the last sample. */
  #addNew(shared: EndpointBuffer, tracked: ReadonlySet<number>, minute: number): void {
    const before = this.#counts
    this.#counts = requestCounts(shared)
    const hasRoom = this.#tracks.size < ENDPOINTS_MAX
    const wanted = new Set<number>()
    this.#counts.forEach((count, slot) => {
      if (count === (before[slot] ?? 0) || tracked.has(slot)) return
      if (hasRoom || isAilingAt(shared, slot)) wanted.add(slot)
    })
    if (wanted.size === 0) return
    const steady = this.#steadyKeys()
    for (const [key, slot] of shared.slots.entries()) {
      if (!wanted.has(slot)) continue
      if (this.#tracks.size >= ENDPOINTS_MAX) {
        const place = isAilingAt(shared, slot) ? steady.pop() : undefined
        if (place === undefined) continue
        this.#tracks.delete(place)
      }
      const figures = readFigures(shared, key)
      if (figures === undefined) continue
      const requests = before[slot] ?? 0
      // Those of an endpoint that had no room until now were some time ago.
      const evictions = requests === 0 ? 0 : figures.evictions
      const track = { ring: new MinuteRing(), requests, evictions, activeMinute: minute }
      this.#tracks.set(key, track)
      note(track, minute, figures)
    }
  }

  /** Endpoints that were healthy all the time; an endpoint with failures takes the place of the last one. */
  #steadyKeys(): string[] {
    return [...this.#tracks]
      .filter(([, { ring }]) => ring.isSteady)
      .sort(([, a], [, b]) => b.activeMinute - a.activeMinute)
      .map(([key]) => key)
  }
}

function note(track: Track, minute: number, figures: EndpointFigures): void {
  const { health, latencySeconds, totalRequests, evictions, evictedForMs } = figures
  // Both count modulo 2^32.
  const requests = (totalRequests - track.requests) >>> 0
  const isEvicted = evictedForMs !== undefined || evictions !== track.evictions
  if (requests > 0) track.activeMinute = minute
  track.requests = totalRequests
  track.evictions = evictions
  track.ring.add(minute, { health, latencySeconds, requests, isEvicted })
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS)
}
