// Functions that a standalone configuration declares as text: `name(a, b) { expr }`, `this.name(a, rest...) { expr }`,
// with `#` comments. Bodies are compiled where they are called, so their references count for the caller.
import { type CompileEnvironment, compileIn, STANDARD_ENVIRONMENT } from './compile.ts'
import { tableKey } from './engine/function-table.ts'
import { isMacroName } from './engine/macros.ts'
import { isNamespace, typeConstant } from './engine/names.ts'
import { type Node, parseSource, problemAt, SOURCE_LENGTH_MAX } from './engine/parse.ts'
import type { UserFunction } from './engine/scope.ts'
import type { CelProblem } from './expression.ts'

export type UserFunctionsOutcome = { readonly environment: CompileEnvironment } | { readonly problem: CelProblem }

const HEADER = /\s*(?:(this)\s*\.\s*)?([A-Za-z_]\w*)\s*\(([^()]*)\)\s*\{/y
const PARAMETER = /^([A-Za-z_]\w*)(\s*\.\.\.)?$/
const STRING_OR_COMMENT =
  /[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?''')|[rR]?"(?:\\.|[^"\\\n])*"|[rR]?'(?:\\.|[^'\\\n])*'|#[^\n]*|\/\/[^\n]*/g

class DeclarationError extends Error {
  readonly problem: CelProblem

  constructor(text: string, offset: number, message: string) {
    super(message)
    this.problem = problemAt(text, offset, message)
  }
}

/** Reads the declarations. Recursion, duplicates and names of built-in functions are mistakes. Never throws. */
export function compileUserFunctions(text: string): UserFunctionsOutcome {
  if (text.length > SOURCE_LENGTH_MAX) {
    return { problem: { message: `longer than ${SOURCE_LENGTH_MAX} characters`, line: 1, column: 1 } }
  }
  try {
    const declared = readDeclarations(text)
    const environment: CompileEnvironment = {
      functions: STANDARD_ENVIRONMENT.functions,
      userFunctions: new Map([...declared].map(([key, { declaration }]) => [key, declaration])),
    }
    for (const { declaration, offset } of declared.values()) checkBody(declaration, offset, text, environment)
    return { environment }
  } catch (error) {
    if (error instanceof DeclarationError) return { problem: error.problem }
    throw error
  }
}

/** Of a configuration that was checked: declarations with a mistake declare nothing, so that their calls fail. */
export function environmentWith(declarations: string | undefined): CompileEnvironment {
  if (declarations === undefined) return STANDARD_ENVIRONMENT
  const outcome = compileUserFunctions(declarations)
  return 'environment' in outcome ? outcome.environment : STANDARD_ENVIRONMENT
}

interface Declared {
  readonly declaration: UserFunction
  readonly offset: number
}

function readDeclarations(text: string): Map<string, Declared> {
  // `code` keeps strings and blanks comments; `shape` blanks both, so that every brace in it is code. Offsets stay.
  const code = text.replace(STRING_OR_COMMENT, (part) => (/^[#/]/.test(part) ? blank(part) : part))
  const shape = text.replace(STRING_OR_COMMENT, blank)
  const declared = new Map<string, Declared>()
  let at = 0
  while (shape.slice(at).trim() !== '') {
    HEADER.lastIndex = at
    const header = HEADER.exec(shape)
    const offset = at + (/\S/.exec(shape.slice(at))?.index ?? 0)
    if (header === null) throw new DeclarationError(text, offset, 'expected a declaration such as name(a, b) { expr }')
    const end = closingBrace(shape, HEADER.lastIndex, text)
    const body = readBody(code, HEADER.lastIndex, end)
    const declaration = toFunction(header, body, (message) => new DeclarationError(text, offset, message))
    const key = tableKey(declaration.name, declaration.isMethod)
    if (declared.has(key))
      throw new DeclarationError(text, offset, `function ${declaration.name} is declared more than once`)
    declared.set(key, { declaration, offset })
    at = end + 1
  }
  return declared
}

function toFunction(header: RegExpExecArray, body: Node, mistake: (message: string) => Error): UserFunction {
  const [, receiver, name = '', list = ''] = header
  const isMethod = receiver !== undefined
  if (isBuiltIn(name, isMethod)) throw mistake(`${name} is the name of a built-in function`)
  const parts = list.trim() === '' ? [] : list.split(',')
  const found = parts.map((part) => PARAMETER.exec(part.trim()))
  const names = found.map((match) => match?.[1] ?? '')
  const restAt = found.findIndex((match) => match?.[2] !== undefined)
  const all = isMethod ? ['this', ...names] : names
  if (names.includes('')) throw mistake(`function ${name} has a parameter that is not a name`)
  if (new Set(all).size !== all.length) throw mistake(`function ${name} has two parameters of the same name`)
  if (restAt >= 0 && restAt !== found.length - 1)
    throw mistake(`only the last parameter of ${name} may be a rest parameter`)
  return { name, isMethod, parameters: all, hasRest: restAt >= 0, body }
}

function isBuiltIn(name: string, isMethod: boolean): boolean {
  if (STANDARD_ENVIRONMENT.functions.has(tableKey(name, isMethod)) || isMacroName(name, isMethod)) return true
  return !isMethod && (isNamespace(name) || typeConstant(name) !== undefined)
}

function closingBrace(shape: string, start: number, text: string): number {
  let depth = 1
  for (let at = start; at < shape.length; at++) {
    if (shape[at] === '{') depth++
    if (shape[at] === '}') depth--
    if (depth === 0) return at
  }
  throw new DeclarationError(text, start - 1, 'this brace is not closed')
}

/** Everything before the body is blank for the parser, so that its positions are those of the whole text. */
function readBody(code: string, start: number, end: number): Node {
  const parsed = parseSource(blank(code.slice(0, start)) + code.slice(start, end))
  if ('node' in parsed) return parsed.node
  throw Object.assign(new DeclarationError(code, start, parsed.problem.message), { problem: parsed.problem })
}

/** Compiles one call of the function: that finds unknown names and recursion, whoever calls it later. */
function checkBody(declaration: UserFunction, offset: number, text: string, environment: CompileEnvironment): void {
  const { name, isMethod, parameters } = declaration
  const args = parameters.slice(isMethod ? 1 : 0).map(() => 'null')
  const compilation = compileIn(environment, `${isMethod ? 'null.' : ''}${name}(${args.join(', ')})`)
  if ('problem' in compilation) throw new DeclarationError(text, offset, `${name}: ${compilation.problem.message}`)
}

function blank(part: string): string {
  return part.replaceAll(/[^\n]/g, ' ')
}
