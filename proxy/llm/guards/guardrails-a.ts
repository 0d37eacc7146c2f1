// The guard `guardrailsA`: ApplyGuardrail of Amazon Bedrock (data-plane supplement section 3.6). Anonymised texts
// replace those of the conversation; every other intervention rejects.
import type { GuardGuardrailsA } from '#api/ir/types.gen.ts'
import { signedFor } from '../../backend/auth/signing-scope.ts'
import { ServiceError } from '../../chain/service.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { matchedNames, vendorGuard, type Examined, type GuardEnvironment } from './external.ts'
import { PASS, type Guard, type GuardedTexts, type GuardPhase, type GuardVerdict } from './guard.ts'

const SOURCES: { readonly [P in GuardPhase]: string } = { Request: 'INPUT', Response: 'OUTPUT' }

export function guardrailsA(
  { identifier, version, region, policies = {} }: GuardGuardrailsA,
  { vendor }: Pick<GuardEnvironment, 'vendor'>,
): Guard {
  const path = `/guardrail/${encodeURIComponent(identifier)}/version/${encodeURIComponent(version)}/apply`
  const host = `bedrock-runtime.${region}.amazonaws.com`
  // By default with the keys of the environment.
  const auth = signedFor({ region }, policies.auth ?? { cloudA: {} })
  return vendorGuard({
    name: 'guardrailsA',
    service: vendor(host, { ...policies, auth }),
    question: (texts, { phase }) => ({
      path,
      body: { source: SOURCES[phase], content: texts.map((text) => ({ text: { text } })) },
    }),
    verdict: verdictOf,
  })
}

function verdictOf(answer: JsonObject, { positions }: Examined, guarded: GuardedTexts): GuardVerdict {
  const action = answer['action']
  if (action === 'NONE') return PASS
  if (action !== 'GUARDRAIL_INTERVENED') throw new ServiceError('the answer has no known action')
  const taken = asArray(answer['assessments']).flatMap(actionsOf)
  const matched = matchedNames(taken.map(({ name }) => name))
  const outputs = asArray(answer['outputs']).map((output) => asString(asObject(output)['text']))
  const isAnonymized = taken.length > 0 && taken.every((one) => one.action === 'ANONYMIZED')
  if (!isAnonymized || outputs.length !== positions.length) return { kind: 'reject', matched }
  const texts = guarded.spans.map(({ text }) => text)
  for (const [index, output] of outputs.entries()) {
    const position = positions[index]
    if (output === undefined || position === undefined) return { kind: 'reject', matched }
    texts[position] = output
  }
  return { kind: 'mask', texts, matched }
}

interface Action {
  /** Policy and type, such as `contentPolicy.HATE`. */
  readonly name: string
  readonly action: unknown
}

/** What the guardrail has done; filters that only detect have the action `NONE`. */
function actionsOf(assessment: unknown): Action[] {
  return Object.entries(asObject(assessment)).flatMap(([policy, lists]) =>
    Object.values(asObject(lists))
      .flatMap((list) => asArray(list).map(asObject))
      .filter(({ action }) => action !== undefined && action !== 'NONE')
      .map(({ type, action }) => ({ name: typeof type === 'string' ? `${policy}.${type}` : policy, action })),
  )
}
