// backend.http. Requests go out as HTTP/1.1; asking for HTTP/2 is reported and has no effect.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendHTTP } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'
import { type FieldTranslator, reportNotProgrammed } from './field.ts'

export const backendHttp: FieldTranslator<BackendHTTP, BackendPayload> = {
  failureMode: 'skip',
  translate: ({ version, requestTimeout }, context) => {
    if (version === 'HTTP2') reportNotProgrammed(context, 'version')
    const requestTimeoutMs = requestTimeout === undefined ? undefined : durationMs(requestTimeout)
    return requestTimeoutMs === undefined ? [] : [{ suffix: 'backend-http', payload: { http: { requestTimeoutMs } } }]
  },
}
