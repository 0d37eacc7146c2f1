// A value that the page asks for again and again, with the failure of the last time. Pages with the same question do not
// wait for it again.
import type { ComponentChildren } from 'preact'
import { usePolled } from '../polled.ts'

export interface LoadedProps<T> {
  /** Must be the same function each time. */
  readonly ask: (signal: AbortSignal) => Promise<T>
  readonly everyMs: number
  readonly children: (value: T) => ComponentChildren
}

export function Loaded<T>({ ask, everyMs, children }: LoadedProps<T>) {
  const { value, problem, at } = usePolled(ask, everyMs)
  return (
    <>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
          {at !== undefined && `. This page shows the state of ${at.toLocaleTimeString('en-GB')}.`}
        </p>
      )}
      {value === undefined ? problem === undefined && <p>Loading the configuration.</p> : children(value)}
    </>
  )
}
