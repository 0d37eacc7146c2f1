// Properties of the models of Amazon Bedrock by their id: `anthropic.claude-…`, with a region in front (`eu.`), or an
// ARN of one of them.

/** Fields of Claude's own API are accepted in `additionalModelRequestFields`. */
export function isClaude(model: string): boolean {
  return /(?:^|[./])anthropic\.claude/.test(model)
}

export function isNova(model: string): boolean {
  return /(?:^|[./])amazon\.nova/.test(model)
}

/** Claude from version 3, Nova, and application inference profiles, whose model is not visible. */
export function hasPromptCache(model: string): boolean {
  if (isClaude(model)) return !/anthropic\.claude-(?:instant|v1|v2)/.test(model)
  return isNova(model) || model.includes(':application-inference-profile/')
}
