// A server that `make bench` measures.
import type { MeasuredRoute } from './measured-route.ts'

export interface Contender {
  readonly name: string
  readonly port: number
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Until it accepts connections; unset: some seconds. */
  readonly startMsMax?: number
  /** A watcher of requests, for a second measurement. */
  readonly watched?: { readonly name: string; readonly url: string }
  /** Measured on the same server, one after the other. */
  readonly routes?: readonly MeasuredRoute[]
}
