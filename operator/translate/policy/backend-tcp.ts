// backend.tcp: connect timeout and keepalive probes towards the backend.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendTCP } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'
import type { FieldTranslator } from './field.ts'
import { renderKeepalive } from './keepalive.ts'

export const backendTcp: FieldTranslator<BackendTCP, BackendPayload> = {
  failureMode: 'skip',
  translate: ({ keepalive, connectTimeout }) => {
    const connectTimeoutMs = connectTimeout === undefined ? undefined : durationMs(connectTimeout)
    const tcp = {
      ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
      ...(keepalive !== undefined && { keepalive: renderKeepalive(keepalive) }),
    }
    return Object.keys(tcp).length === 0 ? [] : [{ suffix: 'backend-tcp', payload: { tcp } }]
  },
}
