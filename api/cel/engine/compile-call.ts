// Calls: macros first, then functions declared by the user, then the table of built-in ones.
import { CelError } from '../expression.ts'
import { type Code, code, folded, runOnce } from './code.ts'
import { FIXED_ARGS_MAX, type CelFunction, type FixedCall, tableKey } from './function-table.ts'
import type { Frame, Thunk } from './frame.ts'
import { GLOBAL_MACROS, METHOD_MACROS } from './macros.ts'
import { dottedName, isNamespace } from './names.ts'
import type { Node } from './parse.ts'
import { type Scope, type UserFunction } from './scope.ts'

type CallNode = Extract<Node, { readonly op: 'call' }>
type MethodNode = Extract<Node, { readonly op: 'rcall' }>

export function compileCall(node: CallNode, scope: Scope): Code {
  const [name, args] = node.args
  return compileGlobal(node, name, args, scope)
}

export function compileMethod(node: MethodNode, scope: Scope): Code {
  const [name, receiver, args] = node.args
  const space = namespaceOf(receiver, scope)
  if (space !== undefined) return compileGlobal(node, `${space}.${name}`, args, scope)
  const macro = METHOD_MACROS.get(`${name}/${args.length}`)
  if (macro !== undefined) return macro({ node, receiver, args, scope })
  const user = scope.environment.userFunctions.get(tableKey(name, true))
  if (user !== undefined) return compileUserCall(node, user, [receiver, ...args], scope)
  const target = scope.environment.functions.get(tableKey(name, true))
  if (target === undefined) throw scope.fail(node, `undeclared method ${name}()`)
  return compileBuiltIn(node, target, [receiver, ...args], scope)
}

function namespaceOf(receiver: Node, scope: Scope): string | undefined {
  const name = dottedName(receiver)
  if (name === undefined) return undefined
  const first = name.split('.', 1)[0] ?? ''
  return isNamespace(first) && scope.slotOf(first) === undefined ? name : undefined
}

function compileGlobal(node: Node, name: string, args: readonly Node[], scope: Scope): Code {
  const macro = GLOBAL_MACROS.get(`${name}/${args.length}`) ?? GLOBAL_MACROS.get(`${name}/*`)
  if (macro !== undefined) return macro({ node, receiver: undefined, args, scope })
  const user = scope.environment.userFunctions.get(tableKey(name, false))
  if (user !== undefined) return compileUserCall(node, user, args, scope)
  const target = scope.environment.functions.get(tableKey(name, false))
  if (target === undefined) throw scope.fail(node, `undeclared function ${name}()`)
  return compileBuiltIn(node, target, args, scope)
}

function compileBuiltIn(node: Node, target: CelFunction, args: readonly Node[], scope: Scope): Code {
  if (args.length < target.argsMin || args.length > target.argsMax) {
    throw scope.fail(node, `wrong number of arguments for ${target.name}()`)
  }
  const parts = args.map((arg) => scope.compile(arg))
  const made = code(preparedThunk(node, target, parts, scope) ?? callThunk(target, parts), parts)
  if (!target.isPure || parts.some((part) => part.constant === undefined)) return made
  if (!target.isStrict) return folded(made, parts)
  const outcome = runOnce(made)
  if ('error' in outcome) throw scope.fail(node, outcome.error.message)
  return folded(made, parts)
}

/** The thunk of a function that prepares itself for a constant argument, such as a pattern. */
function preparedThunk(node: Node, target: CelFunction, parts: readonly Code[], scope: Scope): Thunk | undefined {
  const argument = parts[1]?.constant?.value
  if (target.prepare === undefined || typeof argument !== 'string') return undefined
  try {
    return fixedThunk(
      target.prepare(argument),
      parts.map((part) => part.run),
    )
  } catch (error) {
    if (error instanceof CelError) throw scope.fail(node, error.message)
    throw error
  }
}

function callThunk(target: CelFunction, parts: readonly Code[]): Thunk {
  const runs = parts.map((part) => part.run)
  if (typeof target.call === 'function') return fixedThunk(target.call, runs)
  const { variadic } = target.call
  return (frame) => {
    const values = runs.map((run) => run(frame))
    for (const value of values) frame.chargeFor(value)
    return variadic(values, frame)
  }
}

function fixedThunk(call: FixedCall, runs: readonly Thunk[]): Thunk {
  const [first, second, third, fourth] = runs
  if (first === undefined) return (frame) => call(undefined, undefined, undefined, undefined, frame)
  if (second === undefined) return (frame) => call(charged(first, frame), undefined, undefined, undefined, frame)
  if (third === undefined) {
    return (frame) => call(charged(first, frame), charged(second, frame), undefined, undefined, frame)
  }
  if (runs.length > FIXED_ARGS_MAX) throw new Error('a fixed call takes four arguments')
  return (frame) => call(charged(first, frame), charged(second, frame), charged(third, frame), fourth?.(frame), frame)
}

function charged(run: Thunk, frame: Frame): unknown {
  const value = run(frame)
  frame.chargeFor(value)
  return value
}

/** The body takes the place of the call; arguments are evaluated once, in order, into its parameters. */
function compileUserCall(node: Node, target: UserFunction, args: readonly Node[], scope: Scope): Code {
  const count = target.parameters.length
  const isFitting = target.hasRest ? args.length >= count - 1 : args.length === count
  if (!isFitting) throw scope.fail(node, `wrong number of arguments for ${target.name}()`)
  const parts = args.map((arg) => scope.compile(arg))
  const fixed = target.hasRest ? count - 1 : count
  return scope.withinFunction(tableKey(target.name, target.isMethod), node, () =>
    scope.withLocals(target.parameters, (slots) => {
      const body = scope.compile(target.body)
      const run = (frame: Frame): unknown => {
        const values = parts.map((part) => part.run(frame))
        for (let i = 0; i < fixed; i++) frame.locals[slots[i] ?? 0] = values[i]
        if (target.hasRest) frame.locals[slots[fixed] ?? 0] = values.slice(fixed)
        return body.run(frame)
      }
      return code(run, [...parts, body])
    }),
  )
}
