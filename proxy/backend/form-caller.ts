// A service as a token endpoint is called: its failures are those of credentials.
import { type ServiceCaller, ServiceError } from '../chain/service.ts'
import type { FormCaller } from '../credentials/oauth/token-endpoint.ts'
import { TokenError } from '../credentials/token.ts'

export function formCaller(service: ServiceCaller): FormCaller {
  return {
    answerMs: service.answerMs,
    async http(exchange, request) {
      try {
        return await service.http(exchange, request)
      } catch (error) {
        if (error instanceof ServiceError) throw new TokenError('Unavailable', error.message, { cause: error })
        throw error
      }
    },
  }
}
