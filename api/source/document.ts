// One YAML document with the way back from a field path to the line it stands on.
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml'

export interface Position {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

export interface LocatedDocument {
  readonly value: unknown
  /** Where the document begins. */
  readonly start: Position
  /** Position of a path such as `spec.rules[0].name`; of the deepest part of it that exists. */
  locate(path: string): Position
}

export interface FileProblem extends Position {
  /** Empty when the problem is the file's, not a field's. */
  readonly path: string
  readonly message: string
  readonly severity: 'error' | 'warning'
}

/** Aliases could make a small file expand without end. */
const ALIASES_MAX = 100

export function parseDocuments(file: string, text: string): { documents: LocatedDocument[]; problems: FileProblem[] } {
  const lines = new LineCounter()
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { file, line, column: col }
  }
  const documents: LocatedDocument[] = []
  const problems: FileProblem[] = []
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, version: '1.2' })) {
    for (const error of document.errors) {
      problems.push({ ...at(error.pos[0]), path: '', message: `not valid YAML: ${error.message}`, severity: 'error' })
    }
    if (document.errors.length > 0 || document.contents === null) continue
    const value = valueOf(document)
    if ('problem' in value) problems.push({ ...at(0), path: '', message: value.problem, severity: 'error' })
    else if (value.value !== null) documents.push(locatedDocument(document, value.value, at))
  }
  return { documents, problems }
}

function valueOf(document: Document): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function locatedDocument(document: Document, value: unknown, at: (offset: number) => Position): LocatedDocument {
  // Only parsed documents come here, so contents is a node of the source.
  const root = document.contents as Node
  return {
    value,
    start: at(root.range?.[0] ?? 0),
    locate: (path) => at(offsetOf(root, splitPath(path))),
  }
}

/** `spec.listeners[0].name`, `metadata.labels[gw.dev/x]` or `data["a.b"]` into its parts. */
export function splitPath(path: string): string[] {
  const parts: string[] = []
  for (const [, name, bracket] of path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    parts.push(name ?? (bracket ?? '').replace(/^["'](.*)["']$/, '$1'))
  }
  return parts
}

function offsetOf(root: Node, parts: readonly string[]): number {
  let node: Node | undefined = root
  let offset = root.range?.[0] ?? 0
  for (const part of parts) {
    const step: Step = stepInto(node, part)
    offset = step.offset ?? offset
    node = step.node
    if (node === undefined) return offset
  }
  return offset
}

interface Step {
  /** undefined: the path goes on below what exists. */
  readonly node: Node | undefined
  readonly offset: number | undefined
}

const NOWHERE: Step = { node: undefined, offset: undefined }

function stepInto(node: Node | undefined, part: string): Step {
  if (isSeq(node)) {
    // Items of a parsed sequence are nodes.
    const item = node.items[Number(part)] as Node | undefined
    return { node: item, offset: item?.range?.[0] }
  }
  if (!isMap(node)) return NOWHERE
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part)
  if (pair === undefined) return NOWHERE
  // Keys of a parsed map are nodes; a key without a value has null.
  return { node: (pair.value as Node | null) ?? undefined, offset: (pair.key as Node).range?.[0] }
}
