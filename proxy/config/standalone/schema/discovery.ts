// `services` and `workloads`: Services and their endpoints, as a cluster would have them (resources supplement 4.12).
import { isIP } from 'node:net'
import * as z from 'zod'
import { fields, notServed } from './object.ts'
import { mapOf, name, port, text } from './values.ts'

const CAPACITY_MAX = 1_000_000
const PORT_MAX = 65_535

const NOT_A_PORT = `the names must be ports from 1 to ${PORT_MAX}, for example {80: 8080}`
const isPort = (key: string): boolean => /^[1-9]\d{0,4}$/.test(key) && Number(key) <= PORT_MAX

function byPort<T extends z.ZodType>(value: T) {
  return mapOf(value)
    .refine((map) => Object.keys(map).every(isPort), { error: NOT_A_PORT })
    .meta({ propertyNames: { pattern: '^[1-9][0-9]{0,4}$' } })
}

const ip = z.string().refine((value) => isIP(value) !== 0, { error: 'must be an IP address' })

export const service = fields({
  name,
  namespace: name.optional(),
  hostname: text.optional(),
  ports: byPort(port),
  appProtocols: byPort(text).optional(),
  locality: fields({
    preferences: z
      .array(z.enum(['network', 'cluster', 'region', 'zone', 'subzone', 'node']))
      .min(1)
      .max(6),
    mode: z.enum(['failover', 'strict']).optional(),
  }).optional(),
  // Accepted because files of other programs have it without addresses.
  vips: z.array(text).max(0, { error: 'must be empty: the proxy finds services by their host names' }).optional(),
  ...notServed(['subjectAltNames']),
})

export const workload = fields({
  uid: text.optional(),
  name,
  namespace: name.optional(),
  workloadIps: z.array(ip).min(1),
  serviceAccount: text.optional(),
  node: text.optional(),
  cluster: text.optional(),
  network: text.optional(),
  locality: fields({ region: text.optional(), zone: text.optional(), subzone: text.optional() }).optional(),
  services: mapOf(byPort(port)),
  status: z.enum(['Healthy', 'Unhealthy']).optional(),
  protocol: z.enum(['TCP', 'HBONE']).optional(),
  trustDomain: text.optional(),
  capacity: z.int().min(0).max(CAPACITY_MAX).optional(),
})

/** `name`: `{namespace}/{hostname}`. */
export const serviceReference = fields({ name: text, port })

export type ServiceFields = z.output<typeof service>
export type WorkloadFields = z.output<typeof workload>
export type ServiceReferenceFields = z.output<typeof serviceReference>
