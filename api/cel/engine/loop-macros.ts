// all, exists, exists_one, map, filter and their two-variable forms: loops over lists and over the keys of maps.
import { elementOrMissing, iterated } from './access.ts'
import { type Code, code } from './code.ts'
import { absorbed, celError } from './errors.ts'
import { checkElements, type Frame } from './frame.ts'
import { localName, type Macro, type MacroCall } from './macro.ts'
import type { Node } from './parse.ts'
import { typeName } from './types.ts'

/** A loop with its parts compiled: one call of `each` per element, which returns whether the loop continues. */
interface Loop {
  readonly parts: readonly Code[]
  /** Bodies after the variable names, in order. */
  readonly bodies: readonly Code[]
  readonly forEach: (frame: Frame, each: (key: unknown, value: unknown) => boolean) => void
}

/** Compiles range and bodies with one or two variables in sight. */
function compileLoop(call: MacroCall, variableCount: 1 | 2): Loop {
  const { receiver, args, scope } = call
  if (receiver === undefined) throw new Error('a loop has a receiver')
  const range = scope.compile(receiver)
  const names = args.slice(0, variableCount).map((arg) => localName(arg, scope))
  if (variableCount === 2 && names[0] === names[1])
    throw scope.fail(call.node, 'the two variables need different names')
  return scope.withLocals(names, (slots) => {
    const bodies = args.slice(variableCount).map((body: Node) => scope.compile(body))
    const cost = bodies.reduce((sum, body) => sum + body.cost, 1)
    const forEach: Loop['forEach'] = variableCount === 1 ? loopOne(range, slots, cost) : loopTwo(range, slots, cost)
    return { parts: [range, ...bodies], bodies, forEach }
  })
}

function loopOne(range: Code, slots: readonly number[], cost: number): Loop['forEach'] {
  const [slot = 0] = slots
  return (frame, each) => {
    for (const item of elementsOf(range.run(frame), frame)) {
      frame.charge(cost)
      frame.locals[slot] = item
      if (!each(item, item)) return
    }
  }
}

/** Index and element of a list, key and value of a map. */
function loopTwo(range: Code, slots: readonly number[], cost: number): Loop['forEach'] {
  const [first = 0, second = 0] = slots
  return (frame, each) => {
    const source = range.run(frame)
    const isList = Array.isArray(source)
    let index = 0n
    for (const item of elementsOf(source, frame)) {
      frame.charge(cost)
      const key = isList ? index++ : item
      const value: unknown = isList ? item : elementOrMissing(source, item)
      frame.locals[first] = key
      frame.locals[second] = value
      if (!each(key, value)) return
    }
  }
}

/** Listing the keys of a map is work of its own. */
function elementsOf(source: unknown, frame: Frame): readonly unknown[] {
  const elements = iterated(source)
  if (elements !== source) frame.charge(elements.length)
  return elements
}

function isTrue(value: unknown): boolean {
  if (typeof value !== 'boolean') throw celError(`no such overload: a predicate that returns ${typeName(value)}`)
  return value
}

/** `all` and `exists`: one deciding element wins over elements that fail. */
function quantifier(decisive: boolean, variableCount: 1 | 2): Macro {
  return (call) => {
    const { parts, bodies, forEach } = compileLoop(call, variableCount)
    const [predicate] = bodies
    if (predicate === undefined) throw new Error('arity was checked')
    return code((frame) => {
      let isDecided = false
      let failure: Error | undefined
      forEach(frame, () => {
        try {
          isDecided = isTrue(predicate.run(frame)) === decisive
        } catch (error) {
          failure = absorbed(error)
        }
        return !isDecided
      })
      if (isDecided) return decisive
      if (failure !== undefined) throw failure
      return !decisive
    }, parts)
  }
}

function existsOne(variableCount: 1 | 2): Macro {
  return (call) => {
    const { parts, bodies, forEach } = compileLoop(call, variableCount)
    const [predicate] = bodies
    if (predicate === undefined) throw new Error('arity was checked')
    return code((frame) => {
      let count = 0
      forEach(frame, () => {
        if (isTrue(predicate.run(frame))) count++
        return true
      })
      return count === 1
    }, parts)
  }
}

/** `filter(v, pred)` */
function filter(call: MacroCall): Code {
  const { parts, bodies, forEach } = compileLoop(call, 1)
  const [predicate] = bodies
  if (predicate === undefined) throw new Error('arity was checked')
  return code((frame) => {
    const kept: unknown[] = []
    forEach(frame, (item) => {
      if (isTrue(predicate.run(frame))) kept.push(item)
      return true
    })
    checkElements(kept.length)
    return kept
  }, parts)
}

/** `map(v, expr)`, `map(v, pred, expr)`, `transformList(i, v, …)` */
function toList(variableCount: 1 | 2): Macro {
  return (call) => {
    const { parts, bodies, forEach } = compileLoop(call, variableCount)
    const transform = bodies.at(-1)
    const predicate = bodies.length === 2 ? bodies[0] : undefined
    if (transform === undefined) throw new Error('arity was checked')
    return code((frame) => {
      const made: unknown[] = []
      forEach(frame, () => {
        if (predicate === undefined || isTrue(predicate.run(frame))) made.push(transform.run(frame))
        checkElements(made.length)
        return true
      })
      return made
    }, parts)
  }
}

/** `transformMap(k, v, …)`: the same keys with new values. `transformMapEntry`: the body gives the entries. */
function toMap(isEntry: boolean): Macro {
  return (call) => {
    const { parts, bodies, forEach } = compileLoop(call, 2)
    const transform = bodies.at(-1)
    const predicate = bodies.length === 2 ? bodies[0] : undefined
    if (transform === undefined) throw new Error('arity was checked')
    return code((frame) => {
      const made = new Map<unknown, unknown>()
      forEach(frame, (key) => {
        if (predicate !== undefined && !isTrue(predicate.run(frame))) return true
        const value = transform.run(frame)
        if (isEntry) addEntries(value, made)
        else made.set(key, value)
        checkElements(made.size)
        return true
      })
      return made
    }, parts)
  }
}

function addEntries(value: unknown, into: Map<unknown, unknown>): void {
  if (!(value instanceof Map)) throw celError(`no such overload: transformMapEntry() with ${typeName(value)}`)
  for (const [key, entry] of value) {
    if (into.has(key)) throw celError('transformMapEntry() returns the same key twice')
    into.set(key, entry)
  }
}

/** By name and argument count. */
export const LOOP_MACROS: readonly (readonly [string, Macro])[] = [
  ['all/2', quantifier(false, 1)],
  ['all/3', quantifier(false, 2)],
  ['exists/2', quantifier(true, 1)],
  ['exists/3', quantifier(true, 2)],
  ['exists_one/2', existsOne(1)],
  ['existsOne/2', existsOne(1)],
  ['exists_one/3', existsOne(2)],
  ['existsOne/3', existsOne(2)],
  ['filter/2', filter],
  ['map/2', toList(1)],
  ['map/3', toList(1)],
  ['transformList/3', toList(2)],
  ['transformList/4', toList(2)],
  ['transformMap/3', toMap(false)],
  ['transformMap/4', toMap(false)],
  ['transformMapEntry/3', toMap(true)],
  ['transformMapEntry/4', toMap(true)],
]
