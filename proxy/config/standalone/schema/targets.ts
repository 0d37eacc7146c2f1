// `policies`: policies with targets (resources supplement 4.12).
import * as z from 'zod'
import type { CelMoment } from '#api/cel/variables.ts'
import { evaluatedBy } from './moment.ts'
import { fields, isMap, notServed, ONE_FIELD } from './object.ts'
import { policies } from './policies.ts'
import { name, port, text } from './values.ts'

const target = fields({
  gateway: fields({
    gatewayName: text,
    gatewayNamespace: text.optional(),
    listenerName: text.optional(),
    port: port.optional(),
  }).optional(),
  route: fields({
    name: text,
    namespace: text.optional(),
    ruleName: text.optional(),
    kind: z.literal('HTTPRoute').optional(),
  }).optional(),
  backend: fields({
    backend: fields({ name: text, namespace: text.optional(), section: text.optional() }).optional(),
    service: fields({ hostname: text, namespace: text.optional(), port: port.optional() }).optional(),
  })
    .refine((value) => Object.keys(value).length === 1, { error: 'must have exactly one of backend, service' })
    .meta(ONE_FIELD)
    .optional(),
  ...notServed(['listenerSet']),
})
  .refine((value) => Object.keys(value).length === 1, {
    error: 'must have exactly one of gateway, route, backend',
  })
  .meta(ONE_FIELD)

export const targetedPolicy = evaluatedBy(
  momentOf,
  fields({
    name: fields({ name, namespace: name.optional() }),
    target,
    phase: z.enum(['route', 'gateway']).optional(),
    policy: policies,
  }),
)

export type TargetedPolicyFields = z.output<typeof targetedPolicy>

function momentOf(value: unknown): CelMoment {
  if (!isMap(value)) return 'request'
  if (isMap(value['target']) && value['target']['backend'] !== undefined) return 'backend'
  return value['phase'] === 'gateway' ? 'routing' : 'request'
}
