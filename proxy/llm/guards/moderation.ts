// The guard `moderationApi`: the moderation service of OpenAI (data-plane supplement section 3.6). A flagged text
// rejects the request.
import type { GuardModeration } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../chain/service.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import { askVendor, examinedTexts, matchedNames, type GuardEnvironment } from './external.ts'
import { PASS, type Guard, type GuardVerdict } from './guard.ts'

const HOST = 'api.openai.com'
const MODEL_DEFAULT = 'omni-moderation-latest'

export function moderation(
  { model = MODEL_DEFAULT, policies = {} }: GuardModeration,
  { vendor }: Pick<GuardEnvironment, 'vendor'>,
): Guard {
  const service = vendor(HOST, policies)
  return {
    name: 'moderationApi',
    failureMode: 'FailClosed',
    async check(guarded) {
      const { texts } = examinedTexts(guarded)
      if (texts.length === 0) return PASS
      const question = { path: '/v1/moderations', body: { input: texts, model } }
      return verdictOf(await askVendor(service, guarded.exchange, question), texts.length)
    },
  }
}

/** @throws {ServiceError} if a text has no result. */
function verdictOf(answer: JsonObject, texts: number): GuardVerdict {
  const results = asArray(answer['results']).map(asObject)
  const flags = results.map(({ flagged }) => flagged)
  if (flags.includes(true)) return { kind: 'reject', matched: matchedNames(results.flatMap(flaggedCategories)) }
  const areComplete = flags.length === texts && flags.every((flagged) => flagged === false)
  if (!areComplete) throw new ServiceError('the answer does not have a result for each text')
  return PASS
}

function flaggedCategories({ flagged, categories }: JsonObject): string[] {
  if (flagged !== true) return []
  return Object.entries(asObject(categories)).flatMap(([name, isFlagged]) => (isFlagged === true ? [name] : []))
}
