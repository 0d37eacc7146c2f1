// traffic.hostRewrite. Nothing in it can be broken once the schema has accepted it.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { HostRewrite } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'

export const hostRewrite: FieldTranslator<HostRewrite, TrafficPayload> = {
  failureMode: 'skip',
  translate: ({ mode }) => [{ suffix: 'hostname-rewrite', payload: { hostRewrite: { mode } } }],
}
