// The guard `moderationApi`: the moderation service of OpenAI (data-plane supplement section 3.6). A flagged text
// rejects the request.
import type { GuardModeration } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../chain/service.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import { matchedNames, vendorGuard, type Examined, type GuardEnvironment } from './external.ts'
import { PASS, type Guard, type GuardVerdict } from './guard.ts'

const HOST = 'api.openai.com'
const MODEL_DEFAULT = 'omni-moderation-latest'

export function moderation(
  { model = MODEL_DEFAULT, policies = {} }: GuardModeration,
  { vendor }: Pick<GuardEnvironment, 'vendor'>,
): Guard {
  return vendorGuard({
    name: 'moderationApi',
    service: vendor(HOST, policies),
    question: (texts) => ({ path: '/v1/moderations', body: { input: texts, model } }),
    verdict: verdictOf,
  })
}

function verdictOf(answer: JsonObject, { texts }: Examined): GuardVerdict {
  const results = asArray(answer['results']).map(asObject)
  const flags = results.map(({ flagged }) => flagged)
  if (flags.includes(true)) return { kind: 'reject', matched: matchedNames(results.flatMap(flaggedCategories)) }
  const areComplete = flags.length === texts.length && flags.every((flagged) => flagged === false)
  if (!areComplete) throw new ServiceError('the answer does not have a result for each text')
  return PASS
}

function flaggedCategories({ flagged, categories }: JsonObject): string[] {
  if (flagged !== true) return []
  return Object.entries(asObject(categories)).flatMap(([name, isFlagged]) => (isFlagged === true ? [name] : []))
}
