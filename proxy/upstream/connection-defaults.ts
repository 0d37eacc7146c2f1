// What connections to backends have where no policy sets it: one object for the whole process, from its settings.
// Policies of a backend (`tcp`) override it field by field. Does not depend on who opens connections.
import { DEFAULT_KEEPALIVE, type Probes } from '#api/ir/keepalive.ts'

export interface ConnectionDefaults {
  readonly connectTimeoutMs: number
  readonly keepalive: Probes
  /** After which an unused connection closes. */
  readonly idleTimeoutMs: number
  /** Unused connections that are kept for one endpoint; undefined: as many as each pool allows. */
  readonly idleMax: number | undefined
}

/** Data-plane supplement section 5.3. */
export const CONNECTION_DEFAULTS: ConnectionDefaults = {
  connectTimeoutMs: 10_000,
  keepalive: DEFAULT_KEEPALIVE,
  idleTimeoutMs: 90_000,
  idleMax: undefined,
}

/** The part of one worker: the parts of all workers together are `idleMax`. */
export function ofWorker(
  defaults: ConnectionDefaults,
  { workerId, workers }: { readonly workerId: number; readonly workers: number },
): ConnectionDefaults {
  const { idleMax } = defaults
  if (idleMax === undefined) return defaults
  return { ...defaults, idleMax: Math.floor(idleMax / workers) + (workerId < idleMax % workers ? 1 : 0) }
}
