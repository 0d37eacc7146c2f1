// The guard `guardrailsC`: Google Model Armor (data-plane supplement section 3.6). A match of a filter rejects.
import type { BackendAuth, GuardGuardrailsC } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../chain/service.ts'
import { asObject, type JsonObject } from '../json.ts'
import { matchedNames, vendorGuard, type GuardEnvironment } from './external.ts'
import { PASS, type Guard, type GuardPhase, type GuardVerdict } from './guard.ts'

/** The token of the environment. */
const AUTH_DEFAULT: BackendAuth = { cloudC: { type: 'AccessToken' } }

interface Method {
  readonly name: string
  readonly bodyOf: (text: string) => object
}

const METHODS: { readonly [P in GuardPhase]: Method } = {
  Request: { name: 'sanitizeUserPrompt', bodyOf: (text) => ({ userPromptData: { text } }) },
  Response: { name: 'sanitizeModelResponse', bodyOf: (text) => ({ modelResponseData: { text } }) },
}

export function guardrailsC(
  { projectId, templateId, location, policies }: GuardGuardrailsC,
  { vendor }: Pick<GuardEnvironment, 'vendor'>,
): Guard {
  const [project, place, template] = [projectId, location, templateId].map(encodeURIComponent)
  const resource = `/v1/projects/${project}/locations/${place}/templates/${template}`
  return vendorGuard({
    name: 'guardrailsC',
    service: vendor(`modelarmor.${location}.rep.googleapis.com`, { auth: AUTH_DEFAULT, ...policies }),
    question(texts, { phase }) {
      const { name, bodyOf } = METHODS[phase]
      // One text: filters also find what is spread over several messages.
      return { path: `${resource}:${name}`, body: bodyOf(texts.join('\n')) }
    },
    verdict: verdictOf,
  })
}

/** Filters must have run: a text that they cannot examine does not pass. */
function verdictOf(answer: JsonObject): GuardVerdict {
  const { filterMatchState, filterResults, invocationResult } = asObject(answer['sanitizationResult'])
  if (filterMatchState === 'MATCH_FOUND') {
    const results = Object.entries(asObject(filterResults))
    return {
      kind: 'reject',
      matched: matchedNames(results.flatMap(([name, result]) => (isMatch(result) ? [name] : []))),
    }
  }
  if (filterMatchState !== 'NO_MATCH_FOUND') throw new ServiceError('the answer has no filterMatchState')
  if (invocationResult !== 'SUCCESS') throw new ServiceError('not all filters of the template have run')
  return PASS
}

/** Results are two levels deep, those of Sensitive Data Protection three: `{ sdpFilterResult: { inspectResult } }`. */
function isMatch(result: unknown, depth = 3): boolean {
  const { matchState, ...parts } = asObject(result)
  return matchState === 'MATCH_FOUND' || (depth > 1 && Object.values(parts).some((part) => isMatch(part, depth - 1)))
}
