// Methods of the host's own values: header views, query-aware strings, secrets. And what is neither pure nor typed.
import { randomUUID } from 'node:crypto'
import { elementOrMissing, keysOf } from '../engine/access.ts'
import { celError, missingKey } from '../engine/errors.ts'
import { checkElements, checkLength, type Frame } from '../engine/frame.ts'
import { type CelFunction, global, method, noOverload, textArg } from '../engine/function-table.ts'
import { textOf } from '../engine/types.ts'
import { Flattened } from '../values/flattened.ts'
import { type HeaderMode, HeaderView } from '../values/header-view.ts'
import { CelOptional } from '../values/optional.ts'
import { QueryString } from '../values/query-string.ts'
import { SecretString } from '../values/secret-string.ts'
import { joinTexts, splitText } from './strings.ts'

function headers(value: unknown, name: string): HeaderView {
  if (value instanceof HeaderView) return value
  throw noOverload(name, value)
}

function viewMethod(name: string, mode: HeaderMode): CelFunction {
  return method(name, 1, (value) => headers(value, name).withMode(mode))
}

/** A plain string is a URI too: it gets the same methods. */
function queryString(value: unknown, name: string): QueryString {
  return value instanceof QueryString ? value : new QueryString(textArg(value, name))
}

/** Its pairs are taken apart and decoded by each method. */
function chargedQuery(value: unknown, name: string, frame: Frame): QueryString {
  const text = queryString(value, name)
  if (text.text.length > 256) frame.charge(text.text.length >>> 3)
  return text
}

function changedQuery(changed: QueryString): QueryString {
  checkLength(changed.text.length)
  return changed
}

function query(value: unknown, name: unknown, frame: Frame): unknown {
  const wanted = textArg(name, 'query')
  const values = chargedQuery(value, 'query', frame).query(wanted)
  if (values.length === 0) throw missingKey(wanted)
  return values
}

function cookie(value: unknown, name: unknown): string {
  const wanted = textArg(name, 'cookie')
  const found = headers(value, 'cookie').cookie(wanted)
  if (found === undefined) throw missingKey(wanted)
  return found
}

function unredacted(value: unknown): string {
  return value instanceof SecretString ? value.unredacted() : textArg(value, 'unredacted')
}

function merge(first: unknown, second: unknown, frame: Frame): unknown {
  const merged = new Map<unknown, unknown>()
  for (const map of [first, second]) {
    const keys = keysOf(map)
    checkElements(merged.size + keys.length)
    frame.charge(keys.length)
    for (const key of keys) merged.set(key, elementOrMissing(map, key))
  }
  return merged
}

function fail(message: unknown): never {
  throw celError(textOf(message) ?? 'fail() was called')
}

function optionalArg(value: unknown, name: string): CelOptional {
  if (value instanceof CelOptional) return value
  throw noOverload(name, value)
}

function optionalValue(value: unknown): unknown {
  const optional = optionalArg(value, 'value')
  if (!optional.isPresent) throw celError('the optional is empty')
  return optional.value
}

function isZero(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === 0n || textOf(value) === '') return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  return value instanceof Map && value.size === 0
}

export const HOST_FUNCTIONS: readonly CelFunction[] = [
  method('redacted', 1, (value) => headers(value, 'redacted').redacted()),
  viewMethod('raw', 'raw'),
  method('cookie', 2, cookie),
  method('join', [1, 2], (value, separator, _c, _d, frame) => {
    if (value instanceof HeaderView && separator === undefined) return value.withMode('joined')
    return joinTexts(value, separator, frame)
  }),
  method('split', [1, 3], (value, separator, limit, _d, frame) => {
    if (separator === undefined) return headers(value, 'split').withMode('split')
    return splitText(value, separator, limit, frame)
  }),
  method('query', 2, (value, name, _c, _d, frame) => query(value, name, frame)),
  method('addQuery', 3, (value, name, text, _d, frame) =>
    changedQuery(chargedQuery(value, 'addQuery', frame).addQuery(textArg(name, 'addQuery'), textArg(text, 'addQuery'))),
  ),
  method('setQuery', 3, (value, name, text, _d, frame) =>
    changedQuery(chargedQuery(value, 'setQuery', frame).setQuery(textArg(name, 'setQuery'), textArg(text, 'setQuery'))),
  ),
  method('unredacted', 1, unredacted),
  method('merge', 2, (a, b, _c, _d, frame) => merge(a, b, frame)),
  global('flatten', 1, (value) => new Flattened(value, false)),
  global('flattenRecursive', 1, (value) => new Flattened(value, true)),
  global('random', 0, () => Math.random(), { isPure: false }),
  global('uuid', 0, () => randomUUID(), { isPure: false }),
  global('fail', [0, 1], fail, { isPure: false }),
  global('optional.of', 1, (value) => CelOptional.of(value)),
  global('optional.none', 0, () => CelOptional.none),
  global('optional.ofNonZeroValue', 1, (value) => (isZero(value) ? CelOptional.none : CelOptional.of(value))),
  method('hasValue', 1, (value) => optionalArg(value, 'hasValue').isPresent),
  method('value', 1, optionalValue),
]
