// `has(...)` of CEL rules. The engine's own macro knows chains of names only; the API server takes any operand, such as
// `has(self[0].when)`.
import { type Environment, Optional } from '@marcbachmann/cel-js'

/** Name that rules are rewritten to. */
export const PRESENCE = 'isPresent'

/** The parts of the engine's tree and hooks that the macro uses; the engine types none of them. */
interface Node {
  readonly op: string
  readonly args: readonly unknown[]
}
interface Checker {
  check(node: unknown, context: unknown): unknown
  getType(name: string): unknown
  createError(code: string, message: string, node: unknown): Error
}
interface Evaluator {
  run(node: unknown, context: unknown): unknown
}
interface Macro {
  readonly field: Node
}

export function registerPresence(environment: Environment): void {
  environment.registerFunction(`${PRESENCE}(ast): bool`, ({ args }: { args: readonly [Node] }) => ({
    field: args[0],
    async: false,
    typeCheck: (checker: Checker, { field }: Macro, context: unknown) => {
      if (field.op !== '.') throw checker.createError('invalid_macro_argument', 'has() needs a field', field)
      checker.check(field.args[0], context)
      return checker.getType('bool')
    },
    evaluate: (evaluator: Evaluator, { field }: Macro, context: unknown) => {
      return isPresent(evaluator.run(field.args[0], context), String(field.args[1]))
    },
  }))
}

function isPresent(value: unknown, name: string): boolean {
  if (value instanceof Optional) return value.hasValue() && isPresent(value.value(), name)
  if (value instanceof Map) return value.has(name)
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}
