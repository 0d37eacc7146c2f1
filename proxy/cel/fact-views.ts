// CEL `llm` and `mcp`: views of the facts that these kinds of backends collect. An unknown fact is absent.
import { CelDuration } from '#api/cel/values/duration.ts'
import { CEL_FIELDS } from '#api/cel/values/host.ts'
import { parseJson } from '#api/cel/values/json.ts'
import type { LlmAnswer, LlmCost, LlmFacts, McpFacts } from '../exchange/facts.ts'
import { costOf, millisPerOutputToken } from '../log/fields.ts'

const LLM: ReadonlySet<string> = new Set([
  'streaming',
  'provider',
  'requestModel',
  'responseModel',
  'inputTokens',
  'cachedInputTokens',
  'cacheCreationInputTokens',
  'outputTokens',
  'reasoningTokens',
  'totalTokens',
  'providerInputTokens',
  'providerTotalTokens',
  'inputTextTokens',
  'inputImageTokens',
  'inputAudioTokens',
  'outputTextTokens',
  'outputImageTokens',
  'outputAudioTokens',
  'serviceTier',
  'countTokens',
  'prompt',
  'completion',
  'toolCalls',
  'params',
  'cost',
  'costRates',
  'timeToFirstToken',
  'timePerOutputToken',
])

export class LlmView {
  readonly #facts: LlmFacts
  /** Of the request, after its end. */
  readonly #durationMs: number | undefined

  constructor(facts: LlmFacts, durationMs: number | undefined) {
    this.#facts = facts
    this.#durationMs = durationMs
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return LLM
  }

  get streaming(): boolean {
    return this.#facts.isStreaming
  }

  get provider(): string {
    return this.#facts.provider
  }

  get requestModel(): string | undefined {
    return this.#facts.requestModel
  }

  get responseModel(): string | undefined {
    return this.#facts.responseModel
  }

  get inputTokens(): bigint | undefined {
    return integer(this.#facts.inputTokens ?? this.#facts.promptTokens)
  }

  get cachedInputTokens(): bigint | undefined {
    return integer(this.#facts.cachedInputTokens)
  }

  get cacheCreationInputTokens(): bigint | undefined {
    return integer(this.#facts.cacheCreationInputTokens)
  }

  get outputTokens(): bigint | undefined {
    return integer(this.#facts.outputTokens)
  }

  get reasoningTokens(): bigint | undefined {
    return integer(this.#facts.reasoningTokens)
  }

  get totalTokens(): bigint | undefined {
    return integer(this.#facts.totalTokens)
  }

  get providerInputTokens(): bigint | undefined {
    return integer(this.#facts.providerInputTokens)
  }

  get providerTotalTokens(): bigint | undefined {
    return integer(this.#facts.providerTotalTokens)
  }

  get inputTextTokens(): bigint | undefined {
    return integer(this.#facts.kinds?.inputText)
  }

  get inputImageTokens(): bigint | undefined {
    return integer(this.#facts.kinds?.inputImage)
  }

  get inputAudioTokens(): bigint | undefined {
    return integer(this.#facts.kinds?.inputAudio)
  }

  get outputTextTokens(): bigint | undefined {
    return integer(this.#facts.kinds?.outputText)
  }

  get outputImageTokens(): bigint | undefined {
    return integer(this.#facts.kinds?.outputImage)
  }

  get outputAudioTokens(): bigint | undefined {
    return integer(this.#facts.kinds?.outputAudio)
  }

  get serviceTier(): string | undefined {
    return this.#facts.serviceTier
  }

  get countTokens(): bigint | undefined {
    return integer(this.#facts.countTokens)
  }

  get prompt(): LlmFacts['prompt'] {
    return this.#facts.prompt
  }

  get completion(): LlmAnswer['completion'] | undefined {
    return this.#facts.answer?.completion
  }

  get toolCalls(): LlmAnswer['toolCalls'] | undefined {
    return this.#facts.answer?.toolCalls
  }

  /** Counts are integers, other numbers are doubles, whatever the client wrote. */
  get params(): Readonly<Record<string, unknown>> | undefined {
    const { params } = this.#facts
    if (params === undefined) return undefined
    const { seed, max_tokens, dimensions, ...rest } = params
    const counts = Object.entries({ seed, max_tokens, dimensions }).filter(([, value]) => value !== undefined)
    return { ...rest, ...Object.fromEntries(counts.map(([name, value]) => [name, integer(value)])) }
  }

  /** In USD; absent without a price. */
  get cost(): LlmCost['usd'] {
    return costOf(this.#facts)?.usd
  }

  /** In USD per million tokens. */
  get costRates(): LlmCost['rates'] {
    return costOf(this.#facts)?.rates
  }

  get timeToFirstToken(): CelDuration | undefined {
    const ms = this.#facts.timeToFirstTokenMs
    return ms === undefined ? undefined : CelDuration.fromMs(ms)
  }

  /** For logs, metrics and spans. */
  get timePerOutputToken(): CelDuration | undefined {
    const ms = this.#durationMs === undefined ? undefined : millisPerOutputToken(this.#facts, this.#durationMs)
    return ms === undefined ? undefined : CelDuration.fromMs(ms)
  }
}

function integer(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Math.trunc(value))
}

const TOOL: ReadonlySet<string> = new Set(['target', 'name', 'arguments', 'result', 'error'])

class ToolView {
  readonly #facts: McpFacts

  constructor(facts: McpFacts) {
    this.#facts = facts
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return TOOL
  }

  get target(): string | undefined {
    return this.#facts.target
  }

  get name(): string | undefined {
    return this.#facts.name
  }

  get arguments(): unknown {
    return jsonValue(this.#facts.toolArguments)
  }

  get result(): unknown {
    return jsonValue(this.#facts.toolResult)
  }

  get error(): string | undefined {
    return this.#facts.errorMessage
  }
}

/** A copy: the message is sent unchanged. */
function jsonValue(value: unknown): unknown {
  return value === undefined ? undefined : parseJson(JSON.stringify(value))
}

const MCP: ReadonlySet<string> = new Set([
  'methodName',
  'sessionId',
  'tool',
  'prompt',
  'resource',
  'task',
  'serverRequest',
])

export class McpView {
  readonly #facts: McpFacts

  constructor(facts: McpFacts) {
    this.#facts = facts
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return MCP
  }

  get methodName(): string | undefined {
    return this.#facts.methodName
  }

  get sessionId(): string | undefined {
    return this.#facts.sessionId
  }

  get tool(): ToolView | undefined {
    return this.#facts.kind === 'tool' ? new ToolView(this.#facts) : undefined
  }

  get prompt(): Readonly<Record<string, unknown>> | undefined {
    return this.#item('prompt')
  }

  get resource(): Readonly<Record<string, unknown>> | undefined {
    return this.#item('resource')
  }

  get task(): Readonly<Record<string, unknown>> | undefined {
    return this.#item('task')
  }

  get serverRequest(): McpFacts['serverRequest'] {
    return this.#facts.serverRequest
  }

  #item(kind: McpFacts['kind']): Readonly<Record<string, unknown>> | undefined {
    const { kind: ownKind, target, name, errorMessage } = this.#facts
    if (ownKind !== kind) return undefined
    return {
      ...(target === undefined ? {} : { target }),
      ...(name === undefined ? {} : { name }),
      ...(errorMessage === undefined ? {} : { error: errorMessage }),
    }
  }
}
