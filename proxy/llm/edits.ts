// Edits of the request JSON before it is translated: transformations, overrides, defaults, model alias, prompts
// (data-plane supplement section 3.4, steps 2 to 5).
import type { AIPolicy } from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { evaluate, FAILED } from '../cel/evaluate.ts'
import type { Format } from './formats/format.ts'
import type { JsonObject } from './json.ts'

export interface RequestEdits {
  /** Applies transformations, overrides and defaults; mutates `body`. */
  apply(exchange: Exchange, body: JsonObject): void
  alias(model: string): string
  enrich(body: JsonObject, format: Format): void
}

export function compileEdits(policy: AIPolicy, expression: (source: string) => CelExpression): RequestEdits {
  const { overrides = [], defaults = [], prompt: { prepend = [], append = [] } = {} } = policy
  const transformations = (policy.transformations ?? []).map(({ name, expression: source }) => ({
    name,
    expression: expression(source),
  }))
  const isUnedited = transformations.length + overrides.length + defaults.length === 0
  return {
    apply(exchange, body) {
      if (isUnedited) return
      // All expressions read the original body of the client.
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
      format.enrich?.(body, prepend, append)
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

/** `literals`: the texts before, between and after the stars. */
function matches(literals: readonly string[], name: string): boolean {
  const first = literals[0] ?? ''
  const last = literals.at(-1) ?? ''
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  for (const literal of literals.slice(1, -1)) {
    // The first match leaves the most for the rest.
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
