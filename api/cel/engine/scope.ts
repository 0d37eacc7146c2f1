// The state of one compilation: names in sight, variables read, limits. Ends with the compilation.
import type { Code } from './code.ts'
import type { FunctionTable } from './function-table.ts'
import { isNamespace, typeConstant } from './names.ts'
import { DEPTH_MAX, type Node, problemAt } from './parse.ts'
import type { CelProblem, CelRead } from '../expression.ts'

/** Code nodes of one expression after user functions have been put in place. */
const CODE_NODES_MAX = 65_536

/** A mistake in the text, found by the compiler. Never leaves this folder. */
export class CompileError extends Error {
  readonly problem: CelProblem

  constructor(problem: CelProblem) {
    super(problem.message)
    this.problem = problem
  }
}

/** A function that an operator of the proxy declares as text; its body is compiled where it is called. */
export interface UserFunction {
  readonly name: string
  readonly isMethod: boolean
  /** Names of the parameters; `this` comes first for a method. */
  readonly parameters: readonly string[]
  /** The last parameter takes the remaining arguments as a list. */
  readonly hasRest: boolean
  readonly body: Node
}

export interface CompileEnvironment {
  readonly functions: FunctionTable
  readonly userFunctions: ReadonlyMap<string, UserFunction>
}

/** The position of a node in messages: the name of a method; for other nodes the position of the parser. */
function offsetOf(node: Node): number {
  if (node.op !== 'rcall') return node.pos
  const [name, receiver] = node.args
  const at = node.input.indexOf(name, receiver.end)
  return at < 0 ? node.pos : at
}

/** `a.b` and `a["b"]` */
function memberOf(node: Node): { readonly target: Node; readonly name: string } | undefined {
  if (node.op === '.') return { target: node.args[0], name: node.args[1] }
  if (node.op !== '[]') return undefined
  const [target, key] = node.args
  return key.op === 'value' && typeof key.args === 'string' ? { target, name: key.args } : undefined
}

/** References that mean "everything". */
export const READS_EVERYTHING = '*'

/** The compiler of one node; given to the scope so that the parts of the compiler need not import each other. */
type CompileNode = (node: Node, scope: Scope) => Code

export class Scope {
  readonly environment: CompileEnvironment
  readonly references = new Set<string>()
  readonly reads: CelRead[] = []
  readonly #tested = new Set<string>()
  /** Within arguments that may be absent. */
  #lenient = 0
  readonly #source: string
  readonly #compileNode: CompileNode
  readonly #slots: { readonly name: string; readonly slot: number }[] = []
  #slotCount = 0
  #nodes = 0
  #depth = 0
  /** Locals below this mark belong to the caller of the user function being compiled and are out of sight. */
  #floor = 0
  readonly #calls: string[] = []

  constructor(environment: CompileEnvironment, source: string, compileNode: CompileNode) {
    this.environment = environment
    this.#source = source
    this.#compileNode = compileNode
  }

  /** Compiles a node below the current one. */
  compile(node: Node): Code {
    this.#nodes++
    if (this.#nodes > CODE_NODES_MAX) throw this.fail(node, 'expression is too large')
    if (this.#depth >= DEPTH_MAX) throw this.fail(node, 'nested too deeply')
    this.#depth++
    try {
      return this.#compileNode(node, this)
    } finally {
      this.#depth--
    }
  }

  /** `request.body` is a reference of its own: it decides whether bodies are buffered. */
  noteMember(target: Node, name: string): void {
    if (target.op === 'id' && this.slotOf(target.args) === undefined && !isNamespace(target.args)) {
      this.references.add(`${target.args}.${name}`)
    }
  }

  /** A variable, or a member of one by its literal name; members of anything else are not noted. */
  noteRead(node: Node, target: Node | undefined, name: string): void {
    const path = target === undefined ? [name] : this.#memberPath(target, name)
    if (path === undefined) return
    this.reads.push({ path, isLenient: this.#lenient > 0, offset: this.#offset(node) })
  }

  /** `has(a.b)` and `a.?b` ask whether the member is there. */
  noteTest(target: Node, name: string): void {
    const path = this.#memberPath(target, name)
    if (path !== undefined) this.#tested.add(path.join('.'))
  }

  get tested(): ReadonlySet<string> {
    return this.#tested
  }

  /** Runs `inside` for a part whose absence does not make the expression fail. */
  leniently<T>(inside: () => T): T {
    this.#lenient++
    try {
      return inside()
    } finally {
      this.#lenient--
    }
  }

  /** The variable of the host that a selection begins with: `jwt` of `jwt.realm["a"].roles`. */
  variableOf(node: Node): string | undefined {
    let at = node
    while (at.op === '.' || at.op === '.?' || at.op === '[]' || at.op === '[?]') at = at.args[0]
    if (at.op !== 'id' || this.slotOf(at.args) !== undefined) return undefined
    return isNamespace(at.args) || typeConstant(at.args) !== undefined ? undefined : at.args
  }

  #memberPath(target: Node, name: string): string[] | undefined {
    const path = [name]
    let at = target
    for (;;) {
      const part = memberOf(at)
      if (part === undefined) break
      path.push(part.name)
      at = part.target
    }
    if (at.op !== 'id' || this.slotOf(at.args) !== undefined || isNamespace(at.args)) return undefined
    path.push(at.args)
    return path.reverse()
  }

  fail(node: Node, message: string): CompileError {
    return new CompileError(problemAt(this.#source, this.#offset(node), message))
  }

  /** A body of a user function has its own source; its position means nothing in this one. */
  #offset(node: Node): number {
    return this.#calls.length === 0 ? offsetOf(node) : 0
  }

  /** The slot of a local variable, or undefined when the name means a variable of the host. */
  slotOf(name: string): number | undefined {
    for (let i = this.#slots.length - 1; i >= this.#floor; i--)
      if (this.#slots[i]?.name === name) return this.#slots[i]?.slot
    return undefined
  }

  /** Runs `inside` with new locals in sight, which shadow everything of the same name. */
  withLocals<T>(names: readonly string[], inside: (slots: readonly number[]) => T): T {
    const slots = names.map((name) => {
      const slot = this.#slotCount++
      this.#slots.push({ name, slot })
      return slot
    })
    try {
      return inside(slots)
    } finally {
      this.#slots.length -= names.length
    }
  }

  /** Runs `inside` as the body of a user function: only its own parameters are in sight. */
  withinFunction<T>(key: string, node: Node, inside: () => T): T {
    if (this.#calls.includes(key)) throw this.fail(node, `function ${key} calls itself`)
    const floor = this.#floor
    this.#calls.push(key)
    this.#floor = this.#slots.length
    try {
      return inside()
    } finally {
      this.#floor = floor
      this.#calls.pop()
    }
  }
}
