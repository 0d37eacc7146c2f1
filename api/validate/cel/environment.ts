// The CEL environment of `x-kubernetes-validations`: the engine plus the functions of the API server. Not the language
// of the product's own expressions (api/cel).
import { Environment } from '@marcbachmann/cel-js'
import { registerAddresses } from './address.ts'
import { registerNamedFormats, registerSets } from './named-formats.ts'
import { PRESENCE, registerPresence } from './presence.ts'
import { registerQuantities } from './quantity.ts'
import { registerLists, registerTexts } from './text.ts'
import { registerUrls } from './url.ts'

export interface RuleVariables {
  readonly self: unknown
  readonly oldSelf?: unknown
}

/** @throws when the text is not valid CEL or names an unknown function */
export type CompiledRule = (variables: RuleVariables) => unknown

const environment = create()

const compiled = new Map<string, CompiledRule>()

/** Compiles once: only rules of generated schemas get here, so the cache is bounded. */
export function compileRule(source: string): CompiledRule {
  const known = compiled.get(source)
  if (known !== undefined) return known
  const parsed = environment.parse(forEngine(source))
  const { valid, error } = parsed.check()
  if (!valid) throw error ?? new Error(`not a valid rule: ${source}`)
  // The engine requires an index signature on the same fields.
  const rule: CompiledRule = (variables) => parsed({ ...variables }) as unknown
  compiled.set(source, rule)
  return rule
}

function create(): Environment {
  const result = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn')
  registerPresence(result)
  registerTexts(result)
  registerLists(result)
  registerQuantities(result)
  registerUrls(result)
  registerAddresses(result)
  registerNamedFormats(result)
  registerSets(result)
  return result
}

const TOKENS =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\.matches\(|(?<![\w.])has\(|\boldSelf\b/g

const REPLACEMENTS: Readonly<Record<string, string>> = { '.matches(': '.re2Matches(', 'has(': `${PRESENCE}(` }

/** Outside of literals, functions that differ from those of the API server are replaced by our own. */
function forEngine(source: string): string {
  return source.replaceAll(TOKENS, (token) => REPLACEMENTS[token] ?? token)
}

/** Whether a rule compares with the value before an update. */
export function readsOldSelf(source: string): boolean {
  return [...source.matchAll(TOKENS)].some(([token]) => token === 'oldSelf')
}
