// The shape of a macro: it sees the syntax of its arguments and gives code.
import type { Code } from './code.ts'
import type { Node } from './parse.ts'
import type { Scope } from './scope.ts'

export interface MacroCall {
  readonly node: Node
  /** Undefined for a macro that is called like a function. */
  readonly receiver: Node | undefined
  readonly args: readonly Node[]
  readonly scope: Scope
}

export type Macro = (call: MacroCall) => Code

/** The name that a macro binds. @throws {CompileError} when the argument is not a plain name. */
export function localName(node: Node, scope: Scope): string {
  if (node.op === 'id') return node.args
  throw scope.fail(node, 'the argument must be a variable name')
}
