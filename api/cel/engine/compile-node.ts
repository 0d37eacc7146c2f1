// Syntax tree to closures: one function per kind of node. Calls and macros: compile-call.ts, macros.ts.
import { UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import { CelOptional } from '../values/optional.ts'
import { CelUint } from '../values/uint.ts'
import { element, elementOrMissing, fieldOrMissing, mapKey } from './access.ts'
import { arithmetic, type ArithmeticOperator, INT_MAX, INT_MIN, negate } from './arithmetic.ts'
import { bytesLiteral } from './bytes-literal.ts'
import { type Code, code, constantCode, folded } from './code.ts'
import { compileCall, compileMethod } from './compile-call.ts'
import { compileLogical } from './compile-logical.ts'
import { compare, isEqual, isMember } from './equality.ts'
import { celError, missingKey, undeclared } from './errors.ts'
import { type Frame, isAbsent, type Thunk } from './frame.ts'
import type { Node } from './parse.ts'
import type { Scope } from './scope.ts'
import { dottedName, typeConstant } from './names.ts'
import { normalised, typeName } from './types.ts'

type NodeOf<Op extends Node['op']> = Extract<Node, { readonly op: Op }>

type Handlers = { readonly [Op in Node['op']]: (node: NodeOf<Op>, scope: Scope) => Code }

/** The code of one node. Nested nodes go through `scope.compile`, which guards depth and size. */
export function compileNode(node: Node, scope: Scope): Code {
  // The table gives each kind of node the handler of that kind; the type system cannot follow the index.
  const handler = HANDLERS[node.op] as (node: Node, scope: Scope) => Code
  return handler(node, scope)
}

function compileLiteral(node: NodeOf<'value'>, scope: Scope): Code {
  const value: unknown = node.args
  if (value instanceof UnsignedInt) return constantCode(new CelUint(value.value))
  if (value instanceof Uint8Array) return constantCode(bytesLiteral(value, node))
  if (typeof value === 'bigint' && value > INT_MAX) throw scope.fail(node, `integer out of range: ${value}`)
  return constantCode(value)
}

function compileIdentifier(node: NodeOf<'id'>, scope: Scope): Code {
  const name = node.args
  const slot = scope.slotOf(name)
  if (slot !== undefined) return code((frame) => frame.locals[slot], [])
  const type = typeConstant(name)
  if (type !== undefined) return constantCode(type)
  scope.references.add(name)
  scope.noteRead(node, undefined, name)
  return code(variableThunk(name), [])
}

function variableThunk(name: string): Thunk {
  // Nothing that every JavaScript object inherits is a variable.
  if (name in Object.prototype) {
    return () => {
      throw undeclared(name)
    }
  }
  const absent = undeclared(name)
  return (frame) => {
    const value = frame.variables[name]
    if (value === undefined || typeof value === 'function') throw absent
    return normalised(value)
  }
}

function compileField(node: NodeOf<'.' | '.?'>, scope: Scope): Code {
  const [target, name] = node.args
  if (node.op === '.') {
    const dotted = dottedName(node)
    const type = dotted === undefined ? undefined : typeConstant(dotted)
    if (type !== undefined) return constantCode(type)
  }
  scope.noteMember(target, name)
  if (node.op === '.?') scope.noteTest(target, name)
  else scope.noteRead(node, target, name)
  const inner = scope.compile(target)
  const { run } = inner
  if (node.op === '.?')
    return code(
      optionalThunk(target, scope, (frame) => optionalOf(run(frame), name, fieldOrMissing)),
      [inner],
    )
  // Built once: absence is an ordinary outcome, and throwing costs enough.
  const absent = missingKey(name)
  const read = (value: unknown): unknown => {
    const found = fieldOrMissing(value, name)
    if (found === undefined) throw absent
    return found
  }
  return code(
    (frame) => {
      const value = run(frame)
      return value instanceof CelOptional ? optionalOf(value, name, fieldOrMissing) : read(value)
    },
    [inner],
  )
}

/** Of a variable that is not there, every member is an absent one. */
function optionalThunk(target: Node, scope: Scope, read: Thunk): Thunk {
  const variable = scope.variableOf(target)
  return variable === undefined ? read : (frame) => (isAbsent(frame, variable) ? CelOptional.none : read(frame))
}

function optionalOf<K>(value: unknown, key: K, read: (value: unknown, key: K) => unknown): CelOptional {
  const inner = value instanceof CelOptional ? value.value : value
  if (value instanceof CelOptional && !value.isPresent) return CelOptional.none
  const found = read(inner, key)
  return found === undefined ? CelOptional.none : CelOptional.of(found)
}

function compileIndex(node: NodeOf<'[]' | '[?]'>, scope: Scope): Code {
  const [targetNode, keyNode] = node.args
  if (keyNode.op === 'value' && typeof keyNode.args === 'string') {
    if (node.op === '[?]') scope.noteTest(targetNode, keyNode.args)
    else scope.noteRead(node, targetNode, keyNode.args)
  }
  const target = scope.compile(targetNode)
  const key = scope.compile(keyNode)
  const readTarget = target.run
  const readKey = key.run
  if (node.op === '[?]') {
    const read = (frame: Frame): unknown => optionalOf(readTarget(frame), readKey(frame), elementOrMissing)
    return code(optionalThunk(targetNode, scope, read), [target, key])
  }
  return code(
    (frame) => {
      const value = readTarget(frame)
      // A plain index on an optional stays optional: `a[?0][1]`.
      if (value instanceof CelOptional) return optionalOf(value, readKey(frame), elementOrMissing)
      return element(value, readKey(frame))
    },
    [target, key],
  )
}

function compileList(nodes: readonly Node[], scope: Scope): Code {
  const parts = nodes.map((node) => scope.compile(node))
  const runs = parts.map((part) => part.run)
  const made = code((frame) => {
    const list = Array.from<unknown>({ length: runs.length })
    for (let i = 0; i < runs.length; i++) list[i] = runs[i]?.(frame)
    return list
  }, parts)
  return folded(made, parts)
}

function compileMap(entries: readonly (readonly [Node, Node])[], scope: Scope): Code {
  const keys = entries.map(([key]) => scope.compile(key))
  const values = entries.map(([, value]) => scope.compile(value))
  const parts = [...keys, ...values]
  const made = code((frame) => {
    const map = new Map<unknown, unknown>()
    for (let i = 0; i < keys.length; i++) {
      const key = literalKey(keys[i]?.run(frame))
      if (map.has(key)) throw celError('map has the same key twice')
      map.set(key, values[i]?.run(frame))
    }
    return map
  }, parts)
  return folded(made, parts)
}

function literalKey(key: unknown): string | boolean | bigint {
  if (typeof key === 'number') throw celError('unsupported key type: double')
  return mapKey(key)
}

function compileTernary(args: readonly [Node, Node, Node], scope: Scope): Code {
  const condition = scope.compile(args[0])
  const then = scope.compile(args[1])
  const otherwise = scope.compile(args[2])
  const test = condition.run
  const whenTrue = then.run
  const whenFalse = otherwise.run
  return code(
    (frame) => {
      const value = test(frame)
      if (value === true) return whenTrue(frame)
      if (value === false) return whenFalse(frame)
      throw celError(`no such overload: ${typeName(value)} ? … : …`)
    },
    [condition, then, otherwise],
  )
}

function compileNot(argument: Node, scope: Scope): Code {
  const inner = scope.compile(argument)
  const { run } = inner
  return code(
    (frame) => {
      const value = run(frame)
      if (typeof value !== 'boolean') throw celError(`no such overload: !${typeName(value)}`)
      return !value
    },
    [inner],
  )
}

function compileNegation(node: Node, argument: Node, scope: Scope): Code {
  // The smallest integer is the negation of a literal that is itself out of range.
  if (argument.op === 'value' && argument.args === -INT_MIN) return constantCode(INT_MIN)
  const inner = scope.compile(argument)
  const { run } = inner
  if (inner.constant !== undefined && typeof inner.constant.value === 'boolean') {
    throw scope.fail(node, 'no such overload: -bool')
  }
  return folded(
    code((frame) => negate(run(frame)), [inner]),
    [inner],
  )
}

function compileEquality(isNegated: boolean, args: readonly [Node, Node], scope: Scope): Code {
  const parts = [scope.compile(args[0]), scope.compile(args[1])] as const
  const [{ run: left }, { run: right }] = parts
  const run: Thunk = isNegated
    ? (frame) => !isEqual(left(frame), right(frame), frame)
    : (frame) => isEqual(left(frame), right(frame), frame)
  return folded(code(run, parts), parts)
}

function compileMembership(args: readonly [Node, Node], scope: Scope): Code {
  const parts = [scope.compile(args[0]), scope.compile(args[1])] as const
  const [{ run: left }, { run: right, constant }] = parts
  const known = constant === undefined ? undefined : stringSet(constant.value)
  if (known === undefined) return code((frame) => isMember(left(frame), right(frame), frame), parts)
  return code((frame) => {
    const value = left(frame)
    return typeof value === 'string' ? known.has(value) : isMember(value, right(frame), frame)
  }, parts)
}

/** A constant list of strings answers `in` by a set. */
function stringSet(value: unknown): ReadonlySet<unknown> | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? new Set<unknown>(value) : undefined
}

const ORDER = {
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
} as const

function compileOrder(operator: keyof typeof ORDER, args: readonly [Node, Node], scope: Scope): Code {
  const parts = [scope.compile(args[0]), scope.compile(args[1])] as const
  const [{ run: left }, { run: right }] = parts
  const holds = ORDER[operator]
  return folded(
    code((frame) => holds(compare(left(frame), right(frame))), parts),
    parts,
  )
}

function compileArithmetic(operator: ArithmeticOperator, args: readonly [Node, Node], scope: Scope): Code {
  const parts = [scope.compile(args[0]), scope.compile(args[1])] as const
  const [{ run: left }, { run: right }] = parts
  const run = (frame: Frame): unknown => arithmetic(operator, left(frame), right(frame), frame)
  return folded(code(run, parts), parts)
}

const order = (node: NodeOf<keyof typeof ORDER>, scope: Scope): Code => compileOrder(node.op, node.args, scope)

const calculation = (node: NodeOf<ArithmeticOperator>, scope: Scope): Code =>
  compileArithmetic(node.op, node.args, scope)

const HANDLERS: Handlers = {
  value: compileLiteral,
  id: compileIdentifier,
  '.': compileField,
  '.?': compileField,
  '[]': compileIndex,
  '[?]': compileIndex,
  call: compileCall,
  rcall: compileMethod,
  list: (node, scope) => compileList(node.args, scope),
  map: (node, scope) => compileMap(node.args, scope),
  '?:': (node, scope) => compileTernary(node.args, scope),
  '&&': compileLogical,
  '||': compileLogical,
  '!_': (node, scope) => compileNot(node.args, scope),
  '-_': (node, scope) => compileNegation(node, node.args, scope),
  '==': (node, scope) => compileEquality(false, node.args, scope),
  '!=': (node, scope) => compileEquality(true, node.args, scope),
  in: (node, scope) => compileMembership(node.args, scope),
  '<': order,
  '<=': order,
  '>': order,
  '>=': order,
  '+': calculation,
  '-': calculation,
  '*': calculation,
  '/': calculation,
  '%': calculation,
}
