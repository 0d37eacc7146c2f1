// Source text to syntax tree. The grammar comes from the library; limits, positions and error messages are ours.
import { Environment, ParseError, type ASTNode } from '@marcbachmann/cel-js'
import type { CelProblem } from '../expression.ts'

export type Node = ASTNode

/** CELExpression of the specification: at most this many characters. */
export const SOURCE_LENGTH_MAX = 16_384

/** Nesting of the syntax tree; deeper texts are rejected. */
export const DEPTH_MAX = 250

const parser = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  limits: { maxDepth: DEPTH_MAX, maxAstNodes: SOURCE_LENGTH_MAX, maxListElements: 4096, maxMapEntries: 4096 },
})

export type ParseOutcome = { readonly node: Node } | { readonly problem: CelProblem }

export function parseSource(source: string): ParseOutcome {
  if (source.length > SOURCE_LENGTH_MAX) {
    return { problem: { message: `longer than ${SOURCE_LENGTH_MAX} characters`, line: 1, column: 1 } }
  }
  try {
    return { node: parser.parse(source).ast }
  } catch (error) {
    if (error instanceof ParseError) return { problem: problemAt(source, error.range?.start ?? 0, error.summary) }
    // The parser recurses for runs of unary operators: the runtime's own limit ends those.
    if (error instanceof RangeError) return { problem: problemAt(source, 0, 'nested too deeply') }
    const message = error instanceof Error ? error.message : 'not an expression'
    return { problem: problemAt(source, 0, message) }
  }
}

/** A problem at that offset, with line and column counted from 1. */
export function problemAt(source: string, offset: number, message: string): CelProblem {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { message, line: before.split('\n').length, column: offset - lineStart + 1 }
}
