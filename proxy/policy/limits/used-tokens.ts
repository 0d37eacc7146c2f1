// The tokens of an LLM request, for the limits on tokens.
import type { Exchange } from '../../exchange/exchange.ts'
import type { LlmUsage } from '../../exchange/facts.ts'
import type { FailureCode } from '../../exchange/errors.ts'

const ERROR_STATUS_MIN = 400

/** The provider got the request, and its response is missing. */
const UNANSWERED: ReadonlySet<FailureCode | undefined> = new Set<FailureCode>(['upstreamTimeout', 'requestTimeout'])

/** By the usage of the response; undefined: it was not reported. */
export function usedTokens({ llm }: Exchange): number | undefined {
  if (llm === undefined) return undefined
  const tokens = tokensOf(llm) + (llm.transcription === undefined ? 0 : tokensOf(llm.transcription.facts))
  return tokens > 0 ? tokens : undefined
}

function tokensOf({ totalTokens, inputTokens = 0, outputTokens = 0 }: LlmUsage): number {
  return totalTokens ?? inputTokens + outputTokens
}

/** Whether the provider may bill the prompt of a call without usage: the client left, for example. */
export function isBilled({ upstreamStartMs, upstreamHeadMs, upstreamStatus, failure, connection }: Exchange): boolean {
  if (upstreamStartMs === undefined) return false
  if (upstreamHeadMs !== undefined) return upstreamStatus < ERROR_STATUS_MIN
  return UNANSWERED.has(failure) || connection.signal.aborted
}
