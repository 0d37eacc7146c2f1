// backend.http: version towards the backend, time of one attempt.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendHTTP } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'
import type { FieldTranslator } from './field.ts'

export const backendHttp: FieldTranslator<BackendHTTP, BackendPayload> = {
  failureMode: 'skip',
  translate: ({ version, requestTimeout }) => {
    const requestTimeoutMs = requestTimeout === undefined ? undefined : durationMs(requestTimeout)
    const http = {
      ...(version !== undefined && { version }),
      ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
    }
    return Object.keys(http).length === 0 ? [] : [{ suffix: 'backend-http', payload: { http } }]
  },
}
