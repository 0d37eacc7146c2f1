// Probabilities of tokens as the formats of OpenAI have them.
import type { TokenChance, TokenLogprob } from '../canonical/answer.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../json.ts'

/** Entries without a token or a number are left out. */
export function decodeLogprobs(list: unknown): readonly TokenLogprob[] {
  return asArray(list).flatMap((entry) =>
    decodeChance(entry).map((chance) => ({
      ...chance,
      top: asArray(asObject(entry)['top_logprobs']).flatMap(decodeChance),
    })),
  )
}

function decodeChance(entry: unknown): readonly TokenChance[] {
  const { token, logprob, bytes } = asObject(entry)
  const [text, value] = [asString(token), asNumber(logprob)]
  if (text === undefined || value === undefined) return []
  const numbers = asArray(bytes).filter((byte) => typeof byte === 'number')
  return [{ token: text, logprob: value, bytes: numbers.length === 0 ? undefined : numbers }]
}

export function encodeLogprobs(tokens: readonly TokenLogprob[]): JsonObject[] {
  return tokens.map((one) => ({ ...encodeChance(one), top_logprobs: one.top.map(encodeChance) }))
}

function encodeChance({ token, logprob, bytes }: TokenChance): JsonObject {
  return { token, logprob, bytes: bytes ?? [...Buffer.from(token)] }
}
