// Windows, frames, streams and idle time of the connections that carry tunnels to workloads (HBONE), and their bounds.
// Variables of the environment (resources supplement, section 4.15); invalid values are reported, never ignored.

export interface HboneLimits {
  readonly windowBytes: number
  readonly connectionWindowBytes: number
  readonly frameBytes: number
  /** Tunnels of one connection; further ones get another connection. */
  readonly streamsMax: number
  /** After which a connection without tunnels closes. */
  readonly idleTimeoutMs: number
}

const KIB = 1024
const MIB = 1024 * KIB

/** Data-plane supplement, section 5.3. */
export const HBONE_LIMITS: HboneLimits = {
  windowBytes: 4 * MIB,
  connectionWindowBytes: 16 * MIB,
  frameBytes: MIB,
  streamsMax: 100,
  idleTimeoutMs: 300_000,
}

export interface HboneBound {
  readonly variable: string
  readonly min: number
  readonly max: number
}

/** RFC 9113 sections 6.5.2 and 6.9.1 give the lower bounds, and the upper one of frames. */
export const HBONE_BOUNDS = {
  windowBytes: { variable: 'HTTP2_STREAM_WINDOW_SIZE', min: 65_535, max: 64 * MIB },
  connectionWindowBytes: { variable: 'HTTP2_CONNECTION_WINDOW_SIZE', min: 65_535, max: 256 * MIB },
  frameBytes: { variable: 'HTTP2_FRAME_SIZE', min: 16 * KIB, max: 16 * MIB - 1 },
  streamsMax: { variable: 'POOL_MAX_STREAMS_PER_CONNECTION', min: 1, max: 1000 },
  idleTimeoutMs: { variable: 'POOL_UNUSED_RELEASE_TIMEOUT', min: 1000, max: 86_400_000 },
} as const satisfies { readonly [K in keyof HboneLimits]: HboneBound }

/** `number`, `durationMs`: the value of a variable; undefined: it is not set, or invalid and already reported. */
export interface HboneSource {
  number(name: string): number | undefined
  durationMs(name: string): number | undefined
  refuse(name: string, expected: string): undefined
}

export function hboneEnvironment(source: HboneSource): HboneLimits {
  const within = (key: keyof HboneLimits): number => {
    const { variable, min, max } = HBONE_BOUNDS[key]
    const isTime = key === 'idleTimeoutMs'
    const value = isTime ? source.durationMs(variable) : source.number(variable)
    if (value === undefined) return HBONE_LIMITS[key]
    if (value >= min && value <= max) return value
    source.refuse(variable, isTime ? 'a duration from 1s to 24h' : `a whole number from ${min} to ${max}`)
    return HBONE_LIMITS[key]
  }
  return {
    windowBytes: within('windowBytes'),
    connectionWindowBytes: within('connectionWindowBytes'),
    frameBytes: within('frameBytes'),
    streamsMax: within('streamsMax'),
    idleTimeoutMs: within('idleTimeoutMs'),
  }
}
