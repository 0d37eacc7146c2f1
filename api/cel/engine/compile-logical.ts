// `&&` and `||`: an operand that decides wins over one that fails, on either side.
import { type Code, code } from './code.ts'
import { absorbed, celError } from './errors.ts'
import type { Thunk } from './frame.ts'
import type { Node } from './parse.ts'
import type { Scope } from './scope.ts'
import { typeName } from './types.ts'

type LogicalNode = Extract<Node, { readonly op: '&&' | '||' }>

export function compileLogical(node: LogicalNode, scope: Scope): Code {
  const parts = operands(node).map((operand) => scope.compile(operand))
  const runs = parts.map((part) => part.run)
  const decisive = node.op === '||'
  const [left, right] = runs
  if (runs.length === 2 && left !== undefined && right !== undefined) {
    return code(logicalPair(left, right, decisive), parts)
  }
  return code((frame) => {
    let failure: Error | undefined
    for (const run of runs) {
      const value = attempt(run, frame)
      if (value === decisive) return decisive
      if (typeof value !== 'boolean') failure ??= failureOf(value, decisive)
    }
    if (failure !== undefined) throw failure
    return !decisive
  }, parts)
}

/** The usual case without a loop. */
function logicalPair(left: Thunk, right: Thunk, decisive: boolean): Thunk {
  return (frame) => {
    const first = attempt(left, frame)
    if (first === decisive) return decisive
    const second = right(frame)
    if (second === decisive) return decisive
    if (typeof first !== 'boolean') throw failureOf(first, decisive)
    if (typeof second !== 'boolean') throw failureOf(second, decisive)
    return !decisive
  }
}

/** The value, or the error as a value. */
function attempt(run: Thunk, frame: Parameters<Thunk>[0]): unknown {
  try {
    return run(frame)
  } catch (error) {
    return absorbed(error)
  }
}

function failureOf(value: unknown, decisive: boolean): Error {
  return value instanceof Error ? value : celError(`no such overload: ${decisive ? '||' : '&&'} of ${typeName(value)}`)
}

/** Operands of a chain of one operator in order: long chains cost no depth. */
function operands(node: LogicalNode): Node[] {
  const found: Node[] = []
  let at: Node = node
  while (at.op === node.op) {
    found.push(at.args[1])
    at = at.args[0]
  }
  found.push(at)
  return found.reverse()
}
