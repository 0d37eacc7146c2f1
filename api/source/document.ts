// One YAML document with the way back from a field path to the line it stands on.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml'
import { nestingProblem } from './nesting.ts'

export interface Position {
  readonly file: string
  /** From 1; 0 when the problem is that of the whole file or folder. */
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
  /** For programs: as in the status of the object, where it has one. */
  readonly reason?: string
}

/** The text a parsed text was made from, when they differ: positions are those of the original. */
export interface OriginalText {
  readonly text: string
  /** From an offset of the parsed text. */
  offsetOf(offset: number): number
}

/** Aliases could make a small file expand without end. */
const ALIASES_MAX = 100

/** What the library says of these helps nobody who wrote a file. */
const OWN_WORDS = [
  ['Maximum call stack size exceeded', 'it is nested too deeply'],
  [
    'Excessive alias count',
    `its aliases expand to too much: at most ${ALIASES_MAX} uses of an anchor, those inside others multiplied`,
  ],
] as const

export function parseDocuments(
  file: string,
  text: string,
  original: OriginalText = { text, offsetOf: (offset) => offset },
): { documents: LocatedDocument[]; problems: FileProblem[] } {
  const lineStarts = lineStartsOf(original.text)
  const at = (offset: number): Position => ({ file, ...placeOf(lineStarts, original.offsetOf(offset)) })
  const documents: LocatedDocument[] = []
  const problems: FileProblem[] = []
  for (const document of parseAllDocuments(text, { prettyErrors: false, version: '1.2' })) {
    problems.push(...syntaxProblems(document, at))
    if (document.errors.length > 0 || document.contents === null) continue
    const value = valueOf(document)
    const start = document.contents.range?.[0] ?? 0
    if ('problem' in value) problems.push({ ...at(start), path: '', message: value.problem, severity: 'error' })
    else {
      const nesting = nestingProblem(value.value)
      if (nesting !== undefined) {
        const offset = offsetOf(document, document.contents, nesting.parts)
        problems.push({ ...at(offset), path: '', message: `a value here ${nesting.message}`, severity: 'error' })
      } else if (value.value !== null) documents.push(locatedDocument(document, value.value, at))
    }
  }
  return { documents, problems }
}

export function placeOfOffset(text: string, offset: number): { line: number; column: number } {
  return placeOf(lineStartsOf(text), offset)
}

function lineStartsOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  return lines
}

function placeOf(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** After one mistake the parser often lists what is left of the line or of the document: that is the same mistake. */
function syntaxProblems({ errors }: Pick<Document, 'errors'>, at: (offset: number) => Position): FileProblem[] {
  const problems: FileProblem[] = []
  for (const error of errors) {
    const place = at(error.pos[0])
    const text = withoutSource(error.message)
    const former = problems.at(-1)
    if (former !== undefined && (former.line === place.line || text.endsWith('token in YAML stream'))) continue
    problems.push({ ...place, path: '', message: `not valid YAML: ${text}`, severity: 'error' })
  }
  return problems
}

/** The library quotes what it stumbled over; that may be a secret. */
function withoutSource(message: string): string {
  const known = OWN_WORDS.find(([words]) => message.startsWith(words))
  return known === undefined ? message.replace(/: (?:".*"|[^\s"]+)$/s, '') : known[1]
}

function valueOf(document: Document): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown }
  } catch (error) {
    return { problem: withoutSource(error instanceof Error ? error.message : String(error)) }
  }
}

function locatedDocument(document: Document, value: unknown, at: (offset: number) => Position): LocatedDocument {
  // Only parsed documents come here, so contents is a node of the source.
  const root = document.contents as Node
  return {
    value,
    start: at(root.range?.[0] ?? 0),
    locate: (path) => at(offsetOf(document, root, splitPath(path))),
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

function offsetOf(document: Document, root: Node, parts: readonly string[]): number {
  let node: Node | undefined = root
  let offset = root.range?.[0] ?? 0
  for (const part of parts) {
    // What an alias stands for is written where its anchor is.
    const step: Step = stepInto(isAlias(node) ? node.resolve(document) : node, part)
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
