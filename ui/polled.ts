// Values that the page asks for again and again while it is visible.
import { useEffect, useState } from 'preact/hooks'
import { problemOf } from './api.ts'

export interface Polled<T> {
  /** The last one; undefined: not yet. */
  readonly value: T | undefined
  readonly problem: string | undefined
  /** When the value arrived. */
  readonly at: Date | undefined
}

/** `ask` must be the same function each time. */
export function usePolled<T>(ask: (signal: AbortSignal) => Promise<T>, everyMs: number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ value: undefined, problem: undefined, at: undefined })
  useEffect(() => {
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const run = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          const value = await ask(ended.signal)
          if (!ended.signal.aborted) setPolled({ value, problem: undefined, at: new Date() })
        } catch (error) {
          if (!ended.signal.aborted) setPolled((former) => ({ ...former, problem: problemOf(error) }))
        }
      }
      if (!ended.signal.aborted) timer = setTimeout(() => void run(), everyMs)
    }
    void run()
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [ask, everyMs])
  return polled
}
