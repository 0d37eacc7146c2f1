// `config.backend` and `config.hbone`: what connections to backends have in the whole process.
import * as z from 'zod'
import { HBONE_BOUNDS } from '../../../mesh/hbone-limits.ts'
import { keepalive } from './connections.ts'
import { fields } from './object.ts'
import { byteSize } from './resilience.ts'
import { duration } from './values.ts'

const CONNECT_MS_MIN = 100
const IDLE_MS_MIN = 1000
const POOL_MAX = 65_536

export const processBackend = fields({
  keepalives: keepalive.optional(),
  connectTimeout: duration.refine((ms) => ms >= CONNECT_MS_MIN, { error: 'must be at least 100ms' }).optional(),
  poolIdleTimeout: duration.refine((ms) => ms >= IDLE_MS_MIN, { error: 'must be at least 1s' }).optional(),
  poolMaxSize: z.int().min(0).max(POOL_MAX).optional(),
})

const { windowBytes, connectionWindowBytes, frameBytes, streamsMax, idleTimeoutMs } = HBONE_BOUNDS

export const processHbone = fields({
  windowSize: sizeWithin(windowBytes).optional(),
  connectionWindowSize: sizeWithin(connectionWindowBytes).optional(),
  frameSize: sizeWithin(frameBytes).optional(),
  poolMaxStreamsPerConn: z.int().min(streamsMax.min).max(streamsMax.max).optional(),
  poolUnusedReleaseTimeout: duration
    .refine((ms) => ms >= idleTimeoutMs.min && ms <= idleTimeoutMs.max, { error: 'must be from 1s to 24h' })
    .optional(),
})

function sizeWithin({ min, max }: { readonly min: number; readonly max: number }) {
  return byteSize.refine((bytes) => bytes >= min && bytes <= max, { error: `must be from ${min} to ${max} bytes` })
}

/** As variables of the environment. */
export function hboneVariables(
  hbone: z.output<typeof processHbone> = {},
): Readonly<Record<string, string | undefined>> {
  return {
    [windowBytes.variable]: hbone.windowSize?.toString(),
    [connectionWindowBytes.variable]: hbone.connectionWindowSize?.toString(),
    [frameBytes.variable]: hbone.frameSize?.toString(),
    [streamsMax.variable]: hbone.poolMaxStreamsPerConn?.toString(),
    [idleTimeoutMs.variable]:
      hbone.poolUnusedReleaseTimeout === undefined ? undefined : `${hbone.poolUnusedReleaseTimeout}ms`,
  }
}
