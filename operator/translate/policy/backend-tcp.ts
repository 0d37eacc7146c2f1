// backend.tcp. Keepalive probes are not set by this version; that is reported.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendTCP } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'
import { type FieldTranslator, reportNotProgrammed } from './field.ts'

export const backendTcp: FieldTranslator<BackendTCP, BackendPayload> = {
  failureMode: 'skip',
  translate: ({ keepalive, connectTimeout }, context) => {
    if (keepalive !== undefined) reportNotProgrammed(context, 'keepalive')
    const connectTimeoutMs = connectTimeout === undefined ? undefined : durationMs(connectTimeout)
    return connectTimeoutMs === undefined ? [] : [{ suffix: 'backend-tcp', payload: { tcp: { connectTimeoutMs } } }]
  },
}
