// Macros: calls whose arguments are not evaluated as they stand. Each loop charges for its body and bounds its result.
import { CelOptional } from '../values/optional.ts'
import { elementOrMissing, fieldOrMissing, keysOf } from './access.ts'
import { type Code, code } from './code.ts'
import { MissingKey } from '../expression.ts'
import { absorbed, celError } from './errors.ts'
import { checkElements, type Frame, isAbsent } from './frame.ts'
import { LOOP_MACROS } from './loop-macros.ts'
import { localName, type Macro, type MacroCall } from './macro.ts'
import { READS_EVERYTHING } from './scope.ts'
import { variableNames } from '../values/host.ts'
import { normalised, typeName } from './types.ts'

/** `has(a.b)`: also false when the variable itself is not there, such as `jwt` of a request without a token. */
function has({ node, args, scope }: MacroCall): Code {
  const [argument] = args
  if (argument === undefined || (argument.op !== '.' && argument.op !== '.?')) {
    throw scope.fail(node, 'has() takes a field selection such as a.b')
  }
  const [target, name] = argument.args
  scope.noteMember(target, name)
  scope.noteTest(target, name)
  const inner = scope.leniently(() => scope.compile(target))
  const { run } = inner
  const variable = scope.variableOf(target)
  return code(
    (frame) => {
      if (variable !== undefined && isAbsent(frame, variable)) return false
      const value = run(frame)
      if (!(value instanceof CelOptional)) return fieldOrMissing(value, name) !== undefined
      return value.isPresent && fieldOrMissing(value.value, name) !== undefined
    },
    [inner],
  )
}

/** `v.with(name, expr)` and `cel.bind(name, v, expr)` */
function bind({ args, scope, receiver }: MacroCall): Code {
  const [nameNode, second, third] = args
  const valueNode = receiver ?? second
  const bodyNode = receiver === undefined ? third : second
  if (nameNode === undefined || valueNode === undefined || bodyNode === undefined) throw new Error('arity was checked')
  const value = scope.compile(valueNode)
  return scope.withLocals([localName(nameNode, scope)], ([slot = 0]) => {
    const body = scope.compile(bodyNode)
    return code(
      (frame) => {
        frame.locals[slot] = value.run(frame)
        return body.run(frame)
      },
      [value, body],
    )
  })
}

/** `variables()` */
function variables({ scope }: MacroCall): Code {
  scope.references.add(READS_EVERYTHING)
  return code((frame) => {
    const found = new Map<unknown, unknown>()
    for (const name of variableNames(frame.variables)) {
      const value = frame.variables[name]
      if (value !== undefined && typeof value !== 'function') found.set(name, normalised(value))
    }
    return found
  }, [])
}

/** `default(expr, d)`: only absence is replaced, other errors propagate. */
function defaultTo({ args, scope }: MacroCall): Code {
  const [valueNode, fallbackNode] = args
  if (valueNode === undefined || fallbackNode === undefined) throw new Error('arity was checked')
  const value = scope.leniently(() => scope.compile(valueNode))
  const fallback = scope.compile(fallbackNode)
  const parts = [value, fallback]
  return code((frame) => {
    try {
      const found = value.run(frame)
      if (found !== null) return found
    } catch (error) {
      if (!(error instanceof MissingKey)) throw error
    }
    return fallback.run(frame)
  }, parts)
}

/** `coalesce(a, b, …)`: the first that is neither null nor an error. */
function coalesce({ node, args, scope }: MacroCall): Code {
  if (args.length === 0) throw scope.fail(node, 'coalesce() takes at least one argument')
  const parts = scope.leniently(() => args.map((arg) => scope.compile(arg)))
  return code((frame) => {
    let sawNull = false
    let failure: Error | undefined
    for (const part of parts) {
      try {
        const found = part.run(frame)
        if (found !== null) return found
        sawNull = true
      } catch (error) {
        failure = absorbed(error)
      }
    }
    if (!sawNull && failure !== undefined) throw failure
    return null
  }, parts)
}

/** `m.mapValues(v, expr)` and `m.filterKeys(k, pred)` */
function mapMacro(
  entry: (key: unknown, value: unknown, made: unknown, into: Map<unknown, unknown>) => void,
  isKey: boolean,
): Macro {
  return ({ receiver, args, scope }) => {
    const [nameNode, bodyNode] = args
    if (receiver === undefined || nameNode === undefined || bodyNode === undefined) throw new Error('arity was checked')
    const source = scope.compile(receiver)
    return scope.withLocals([localName(nameNode, scope)], ([slot = 0]) => {
      const body = scope.compile(bodyNode)
      const run = (frame: Frame): unknown => {
        const map = source.run(frame)
        const result = new Map<unknown, unknown>()
        const keys = keysOf(map)
        checkElements(keys.length)
        for (const key of keys) {
          frame.charge(body.cost)
          const value = elementOrMissing(map, key)
          frame.locals[slot] = isKey ? key : value
          entry(key, value, body.run(frame), result)
        }
        return result
      }
      return code(run, [source, body])
    })
  }
}

const mapValues = mapMacro((key, _value, made, into) => void into.set(key, made), false)

const filterKeys = mapMacro((key, value, made, into) => {
  if (typeof made !== 'boolean') throw celError(`no such overload: filterKeys() with a ${typeName(made)} predicate`)
  if (made) into.set(key, value)
}, true)

/** `o.or(p)` and `o.orValue(v)`: the argument is evaluated only when the optional is empty. */
function orElse(isUnwrapped: boolean): Macro {
  return ({ receiver, args, scope }) => {
    const [argument] = args
    if (receiver === undefined || argument === undefined) throw new Error('arity was checked')
    const parts = [scope.compile(receiver), scope.compile(argument)] as const
    const [value, fallback] = parts
    return code((frame) => {
      const found = optionalArg(value.run(frame))
      if (found.isPresent) return isUnwrapped ? found.value : found
      const other = fallback.run(frame)
      return isUnwrapped ? other : optionalArg(other)
    }, parts)
  }
}

/** `o.optMap(v, expr)` and `o.optFlatMap(v, expr)` */
function optionalMap(isFlat: boolean): Macro {
  return ({ receiver, args, scope }) => {
    const [nameNode, bodyNode] = args
    if (receiver === undefined || nameNode === undefined || bodyNode === undefined) throw new Error('arity was checked')
    const value = scope.compile(receiver)
    return scope.withLocals([localName(nameNode, scope)], ([slot = 0]) => {
      const body = scope.compile(bodyNode)
      const run = (frame: Frame): unknown => {
        const found = optionalArg(value.run(frame))
        if (!found.isPresent) return CelOptional.none
        frame.locals[slot] = found.value
        const made = body.run(frame)
        return isFlat ? optionalArg(made) : CelOptional.of(made)
      }
      return code(run, [value, body])
    })
  }
}

function optionalArg(value: unknown): CelOptional {
  if (value instanceof CelOptional) return value
  throw celError(`no such overload: an optional is needed, not ${typeName(value)}`)
}

/** By name and argument count; `*` is any count. */
export const GLOBAL_MACROS: ReadonlyMap<string, Macro> = new Map([
  ['has/1', has],
  ['cel.bind/3', bind],
  ['variables/0', variables],
  ['default/2', defaultTo],
  ['coalesce/*', coalesce],
])

/** By name and argument count, the receiver not counted. */
export const METHOD_MACROS: ReadonlyMap<string, Macro> = new Map([
  ...LOOP_MACROS,
  ['with/2', bind],
  ['mapValues/2', mapValues],
  ['filterKeys/2', filterKeys],
  ['or/1', orElse(false)],
  ['orValue/1', orElse(true)],
  ['optMap/2', optionalMap(false)],
  ['optFlatMap/2', optionalMap(true)],
])

/** Whether some call of that name is a macro, whatever its argument count. */
export function isMacroName(name: string, isMethod: boolean): boolean {
  const macros = isMethod ? METHOD_MACROS : GLOBAL_MACROS
  return [...macros.keys()].some((key) => key.startsWith(`${name}/`))
}
