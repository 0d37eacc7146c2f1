// Token counts of the messages format: input tokens exclude cache reads and writes.
import type { Usage } from '../../canonical/answer.ts'
import { asNumber, asObject, type JsonObject } from '../../json.ts'

const COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'] as const

/** The counts of an answer as its events report them. A count of null is not repeated; it keeps its value. */
export class UsageReader {
  readonly #counts: { [N in (typeof COUNTS)[number]]?: number } = {}
  #reasoning: number | undefined

  /** The canonical counts as far as they are known. */
  read(usage: JsonObject): { readonly [K in keyof Usage]?: number | undefined } {
    for (const name of COUNTS) {
      const count = asNumber(usage[name])
      if (count !== undefined) this.#counts[name] = count
    }
    this.#reasoning = asNumber(asObject(usage['output_tokens_details'])['thinking_tokens']) ?? this.#reasoning
    const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = this.#counts
    return {
      inputTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
      cacheReadTokens: read,
      cacheWriteTokens: written,
      outputTokens: this.#counts.output_tokens,
      reasoningTokens: this.#reasoning,
    }
  }
}

export function encodeUsage(usage: Partial<Usage>): JsonObject {
  const { cacheReadTokens: read, cacheWriteTokens: written, reasoningTokens: reasoning } = usage
  return {
    input_tokens: Math.max(0, (usage.inputTokens ?? 0) - (read ?? 0) - (written ?? 0)),
    cache_creation_input_tokens: written ?? 0,
    cache_read_input_tokens: read ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}
