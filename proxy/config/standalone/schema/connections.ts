// What connections of clients and to backends have in common: TLS names, keepalive probes.
import * as z from 'zod'
import { fields } from './object.ts'
import { duration } from './values.ts'

const RETRIES_MAX = 64

export const keyExchangeGroups = z.array(z.enum(['X25519', 'P-256', 'P-384', 'X25519_MLKEM768'])).min(1)

const probeTime = duration.refine((ms) => ms >= 1000, { error: 'must be at least 1s' })
export const keepalive = fields({
  enabled: z.boolean().optional(),
  time: probeTime.optional(),
  interval: probeTime.optional(),
  retries: z.int().min(1).max(RETRIES_MAX).optional(),
})

export type KeepaliveFields = z.output<typeof keepalive>
