// Live requests. They stay while the user looks at other pages, and the watch continues until it is stopped.
import { useEffect, useState } from 'preact/hooks'
import { problemOf, type TraceEvent, watchRequest } from './api.ts'

export interface Watched {
  readonly id: number
  /** When its first event arrived. */
  readonly at: Date
  readonly events: readonly TraceEvent[]
}

interface WatchState {
  /** The newest first. */
  readonly requests: readonly Watched[]
  /** CEL; empty: all requests. */
  readonly expression: string
  readonly isWatching: boolean
  readonly status: string
  /** The id of the request that the page shows. */
  readonly shown: number | undefined
}

/** Older ones are forgotten. */
const REQUESTS_MAX = 50

let state: WatchState = { requests: [], expression: '', isWatching: false, status: '', shown: undefined }
let stop: AbortController | undefined
const listeners = new Set<() => void>()

export function useWatch(): WatchState {
  const [, update] = useState({})
  useEffect(() => {
    const changed = (): void => update({})
    listeners.add(changed)
    return () => {
      listeners.delete(changed)
    }
  }, [])
  return state
}

export function changeWatch(part: Partial<Pick<WatchState, 'expression' | 'shown'>>): void {
  change(part)
}

/** Until `stopWatch`, or until the proxy rejects the expression. */
export async function startWatch(): Promise<void> {
  const { signal } = (stop = new AbortController())
  change({ isWatching: true })
  try {
    while (!signal.aborted) await watchOne(signal)
  } catch (error) {
    if (!signal.aborted) change({ status: problemOf(error) })
  } finally {
    change({ isWatching: false, ...(signal.aborted && { status: '' }) })
  }
}

export function stopWatch(): void {
  stop?.abort()
}

async function watchOne(signal: AbortSignal): Promise<void> {
  const id = performance.now()
  await watchRequest(state.expression, signal, {
    onEvent: (event) => change({ requests: withEvent(state.requests, id, event) }),
    onReady: () => change({ status: 'Waiting for the next request.' }),
  })
}

function withEvent(all: readonly Watched[], id: number, event: TraceEvent): readonly Watched[] {
  const known = all.find((one) => one.id === id)
  if (known === undefined) return [{ id, at: new Date(), events: [event] }, ...all].slice(0, REQUESTS_MAX)
  return all.map((one) => (one === known ? { ...known, events: [...known.events, event] } : one))
}

function change(part: Partial<WatchState>): void {
  state = { ...state, ...part }
  for (const listener of listeners) listener()
}
