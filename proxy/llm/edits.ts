// Edits of the request JSON before it is translated: transformations, overrides, defaults, model alias, prompts
// (data-plane supplement section 3.4, steps 2 to 5).
import type { AIPolicy, PromptMessage } from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange.ts'
import { evaluate, FAILED } from '../cel/evaluate.ts'
import { asArray, asString, type JsonObject } from './json.ts'
import type { WireFormat } from './provider.ts'

export interface RequestEdits {
  /** Applies transformations, overrides and defaults; mutates `body`. */
  apply(exchange: Exchange, body: JsonObject): void
  alias(model: string): string
  enrich(body: JsonObject, format: WireFormat): void
}

export function compileEdits(policy: AIPolicy, expression: (source: string) => CelExpression): RequestEdits {
  const { overrides = [], defaults = [], prompt: { prepend = [], append = [] } = {} } = policy
  const transformations = (policy.transformations ?? []).map(({ name, expression: source }) => ({
    name,
    expression: expression(source),
  }))
  return {
    apply(exchange, body) {
      // All expressions see the body as the client sent it.
      if (transformations.length > 0) exchange.llmRequest = structuredClone(body)
      const results = transformations.map(({ name, expression: compiled }) => ({
        name,
        value: evaluated(compiled, exchange),
      }))
      exchange.llmRequest = undefined
      for (const { field, value } of overrides) setField(body, field, value)
      for (const { name, value } of results) {
        if (value === undefined) delete body[name]
        else setField(body, name, value)
      }
      for (const { field, value } of defaults) if (!Object.hasOwn(body, field)) setField(body, field, value)
    },
    alias: compileAliases(policy.modelAliases),
    enrich(body, format) {
      if (prepend.length === 0 && append.length === 0) return
      ENRICH[format]?.(body, prepend, append)
    },
  }
}

/** Exact name first, then patterns with `*`, longest first: as many characters beside the stars as possible. */
function compileAliases(aliases: Readonly<Record<string, string>> | undefined): (model: string) => string {
  if (aliases === undefined) return (model) => model
  const exact = new Map<string, string>()
  const patterns: { literals: readonly string[]; length: number; target: string }[] = []
  for (const [name, target] of Object.entries(aliases)) {
    const literals = name.split('*')
    if (literals.length === 1) exact.set(name, target)
    else patterns.push({ literals, length: name.length - literals.length + 1, target })
  }
  patterns.sort((a, b) => b.length - a.length)
  return (model) => exact.get(model) ?? patterns.find(({ literals }) => matches(literals, model))?.target ?? model
}

/** `literals`: what stands before, between and behind the stars. */
function matches(literals: readonly string[], name: string): boolean {
  const first = literals[0] ?? ''
  const last = literals.at(-1) ?? ''
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  for (const literal of literals.slice(1, -1)) {
    // The first place leaves the most for the rest.
    const found = name.indexOf(literal, from)
    if (found === -1) return false
    from = found + literal.length
  }
  return from <= name.length - last.length
}

/** A failing expression removes its field (section 3.4). */
function evaluated(compiled: CelExpression, exchange: Exchange): unknown {
  const value = evaluate(compiled, exchange)
  return value === FAILED ? undefined : toJson(value)
}

/** CEL integers are bigint; JSON has numbers. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), toJson(item)]))
  return value
}

/** An own property even for names such as `__proto__`. */
function setField(body: JsonObject, field: string, value: unknown): void {
  Object.defineProperty(body, field, {
    value: structuredClone(value),
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

function enrichCompletions(
  body: JsonObject,
  prepend: readonly PromptMessage[],
  append: readonly PromptMessage[],
): void {
  body['messages'] = [...prepend.map(copy), ...asArray(body['messages']), ...append.map(copy)]
}

/** The messages format has no system role: such texts go to the `system` field. */
function enrichMessages(body: JsonObject, prepend: readonly PromptMessage[], append: readonly PromptMessage[]): void {
  const isSystem = (message: PromptMessage): boolean => message.role === 'system'
  const before = prepend.filter(isSystem).map(({ content }) => content)
  const after = append.filter(isSystem).map(({ content }) => content)
  const { system } = body
  if (before.length > 0 || after.length > 0) {
    if (Array.isArray(system)) body['system'] = [...before.map(textBlock), ...system, ...after.map(textBlock)]
    else body['system'] = [...before, ...[asString(system) ?? ''].filter((text) => text !== ''), ...after].join('\n')
  }
  body['messages'] = [
    ...prepend.filter((message) => !isSystem(message)).map(copy),
    ...asArray(body['messages']),
    ...append.filter((message) => !isSystem(message)).map(copy),
  ]
}

/** Instructions stay apart; a text stands for one message of the user. */
function enrichResponses(body: JsonObject, prepend: readonly PromptMessage[], append: readonly PromptMessage[]): void {
  const { input } = body
  const own = typeof input === 'string' ? [{ role: 'user', content: input }] : asArray(input)
  body['input'] = [...prepend.map(copy), ...own, ...append.map(copy)]
}

type Enrich = (body: JsonObject, prepend: readonly PromptMessage[], append: readonly PromptMessage[]) => void

/** The other formats have no messages, or count tokens, which no policy changes (data-plane supplement section 3.9). */
const ENRICH: Readonly<Record<WireFormat, Enrich | undefined>> = {
  Completions: enrichCompletions,
  Messages: enrichMessages,
  Responses: enrichResponses,
  Embeddings: undefined,
  AnthropicTokenCount: undefined,
  Realtime: undefined,
  Rerank: undefined,
}

function copy({ role, content }: PromptMessage): JsonObject {
  return { role, content }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}
