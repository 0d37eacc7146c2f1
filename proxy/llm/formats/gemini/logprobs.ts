// Probabilities of tokens in a candidate: the chosen tokens, and beside them the most probable ones of each step.
import type { TokenChance, TokenLogprob } from '../../canonical/answer.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'

/** Entries without a token or a number are left out. */
export function decodeLogprobs(candidate: JsonObject): readonly TokenLogprob[] {
  const { chosenCandidates, topCandidates } = asObject(candidate['logprobsResult'])
  const steps = asArray(topCandidates)
  return asArray(chosenCandidates).flatMap((entry, index) =>
    decodeChance(entry).map((chance) => ({
      ...chance,
      top: asArray(asObject(steps[index])['candidates']).flatMap(decodeChance),
    })),
  )
}

function decodeChance(entry: unknown): readonly TokenChance[] {
  const { token, logProbability } = asObject(entry)
  const [text, logprob] = [asString(token), asNumber(logProbability)]
  return text === undefined || logprob === undefined ? [] : [{ token: text, logprob, bytes: undefined }]
}

/** undefined: there are none. */
export function encodeLogprobs(tokens: readonly TokenLogprob[]): JsonObject | undefined {
  if (tokens.length === 0) return undefined
  return {
    chosenCandidates: tokens.map(encodeChance),
    ...(tokens.some(({ top }) => top.length > 0) && {
      topCandidates: tokens.map(({ top }) => ({ candidates: top.map(encodeChance) })),
    }),
  }
}

function encodeChance({ token, logprob }: TokenChance): JsonObject {
  return { token, logProbability: logprob }
}
