// backend.tunnel: the proxy that connections to the backend go through. A reference to a missing object is kept:
// requests then fail, and never take another way.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendTunnel } from '#api/v1alpha1/shared.gen.ts'
import type { FieldTranslator } from './field.ts'
import { serviceReference } from './service-reference.ts'

export const backendTunnel: FieldTranslator<BackendTunnel, BackendPayload> = {
  failureMode: 'deny',
  translate: ({ backendRef }, context) => [
    {
      suffix: 'backend-tunnel',
      payload: { tunnel: { proxy: serviceReference(backendRef, `${context.path}.backendRef`, context) } },
    },
  ],
}
