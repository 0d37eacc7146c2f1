// Defaults of prompt guards (specification, CustomResponse and GuardrailsC), for manifests and for standalone files.
import type { GuardRejection } from '../ir/types.gen.ts'

export const GUARD_REJECTION: Readonly<GuardRejection> = {
  status: 403,
  body: 'The request was rejected due to inappropriate content',
}

/** Of a template of `guardrailsC`. */
export const TEMPLATE_LOCATION = 'us-central1'
