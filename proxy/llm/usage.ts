// The usage record of a call (data-plane supplement section 3.5). Each format has one reader of its counts; the reports
// of a response are put together here, for the facts of the call and for translation.
import type { LlmFacts, LlmTokenKinds, LlmUsage } from '../exchange/facts.ts'
import type { Usage } from './canonical/answer.ts'

/** The counts in one response or event of a stream. undefined: it has none, which leaves a known count as it is. */
export interface UsageReport {
  /** Without cache reads and writes if `isCacheApart`. */
  readonly input: number | undefined
  readonly isCacheApart: boolean
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  /** With reasoning. */
  readonly output: number | undefined
  readonly reasoning: number | undefined
  readonly total: number | undefined
  /** undefined: the format has no such counts. */
  readonly kinds: LlmTokenKinds | undefined
}

export const EMPTY_REPORT: UsageReport = {
  input: undefined,
  isCacheApart: false,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  total: undefined,
  kinds: undefined,
}

export function noUsage(): LlmUsage {
  return {
    inputTokens: undefined,
    cachedInputTokens: undefined,
    cacheCreationInputTokens: undefined,
    outputTokens: undefined,
    reasoningTokens: undefined,
    totalTokens: undefined,
    providerInputTokens: undefined,
    providerTotalTokens: undefined,
    kinds: undefined,
  }
}

/** Written out, without a copy of `noUsage`: one object for each request. */
export function emptyFacts(provider: string): LlmFacts {
  return {
    inputTokens: undefined,
    cachedInputTokens: undefined,
    cacheCreationInputTokens: undefined,
    outputTokens: undefined,
    reasoningTokens: undefined,
    totalTokens: undefined,
    providerInputTokens: undefined,
    providerTotalTokens: undefined,
    kinds: undefined,
    operation: 'chat',
    isStreaming: false,
    provider,
    requestModel: undefined,
    responseModel: undefined,
    serviceTier: undefined,
    params: undefined,
    timeToFirstTokenMs: undefined,
  }
}

export function addReport(usage: LlmUsage, report: UsageReport): void {
  usage.cachedInputTokens = report.cacheRead ?? usage.cachedInputTokens
  usage.cacheCreationInputTokens = report.cacheWrite ?? usage.cacheCreationInputTokens
  // The end of a stream may only have counts of the cache: the input is then that of the beginning.
  usage.providerInputTokens = report.input ?? usage.providerInputTokens
  usage.inputTokens = inputOf(usage, report)
  usage.outputTokens = report.output ?? usage.outputTokens
  usage.reasoningTokens = report.reasoning ?? usage.reasoningTokens
  usage.providerTotalTokens = report.total ?? usage.providerTotalTokens
  usage.totalTokens = totalOf(usage, report)
  if (report.kinds !== undefined) usage.kinds = kindsOf(usage.kinds, report.kinds)
}

/** The canonical counts. */
export function canonicalUsage(usage: LlmUsage): { readonly [K in keyof Usage]: number | undefined } {
  return {
    inputTokens: usage.inputTokens,
    cacheReadTokens: usage.cachedInputTokens,
    cacheWriteTokens: usage.cacheCreationInputTokens,
    inputAudioTokens: usage.kinds?.inputAudio,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    outputAudioTokens: usage.kinds?.outputAudio,
  }
}

/** The canonical counts of one report alone. */
export function reportedUsage(report: UsageReport): ReturnType<typeof canonicalUsage> {
  const usage = noUsage()
  addReport(usage, report)
  return canonicalUsage(usage)
}

function inputOf(usage: LlmUsage, { isCacheApart }: UsageReport): number | undefined {
  const { providerInputTokens: input, cachedInputTokens: read, cacheCreationInputTokens: written } = usage
  return input === undefined || !isCacheApart ? input : input + (read ?? 0) + (written ?? 0)
}

/** The total of a provider that counts the cache apart may lack it. */
function totalOf({ inputTokens, outputTokens, totalTokens }: LlmUsage, report: UsageReport): number | undefined {
  if (report.total !== undefined && !report.isCacheApart) return report.total
  if (inputTokens === undefined && outputTokens === undefined) return totalTokens
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

function kindsOf(known: LlmTokenKinds | undefined, reported: LlmTokenKinds): LlmTokenKinds | undefined {
  const kinds = { ...(known ?? NO_KINDS) }
  for (const name of KINDS) kinds[name] = reported[name] ?? kinds[name]
  return KINDS.some((name) => kinds[name] !== undefined) ? kinds : undefined
}

const KINDS = ['inputText', 'inputImage', 'inputAudio', 'outputText', 'outputImage', 'outputAudio'] as const
const NO_KINDS: LlmTokenKinds = {
  inputText: undefined,
  inputImage: undefined,
  inputAudio: undefined,
  outputText: undefined,
  outputImage: undefined,
  outputAudio: undefined,
}
