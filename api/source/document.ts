// One YAML document that maps field paths to lines.
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  YAMLParseError,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { nestingProblem } from './nesting.ts'

export interface Position {
  readonly file: string
  /** From 1; 0 if the problem concerns the whole file or folder. */
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

/** The most probable correction of a mistake, by the error code of the library. */
const CURES: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'use spaces',
  DUPLICATE_KEY: 'this key is there already: remove one of the two',
  UNEXPECTED_TOKEN: 'look for a missing quote, comma or bracket before it',
  BAD_INDENT: 'indent it as its neighbours',
  MULTILINE_IMPLICIT_KEY: 'a colon or a quote is missing',
  BLOCK_AS_IMPLICIT_KEY: 'put a value that holds a colon and a space in quotes',
  BAD_SCALAR_START: 'put the value in quotes',
}

/** By the text of the message, for codes that several mistakes have. */
const CURES_BY_TEXT: readonly (readonly [start: string, cure: string])[] = [
  ['Flow ', 'close the bracket'],
  ['Sequence item without -', 'indent the line as its neighbours, or begin it with -'],
  ['Implicit map keys need to be followed by map values', 'write a colon and a space after the name of the field'],
]

/** At the start of a line or of a value. */
const TEMPLATE_ACTION = /^([ \t]*(?:- )?(?:[\w.-]+:[ \t]+)?)\{\{/m
const TEMPLATE =
  'not valid YAML: {{ }} belongs to a template; render the template first, such as with helm template, and pass its output'

const NO_ANCHOR =
  'not valid YAML: * begins an alias of an anchor that is not there; put text such as "*.example" in quotes'

/** The library's own messages for these do not help the author of a file. */
const OWN_WORDS = [
  ['Maximum call stack size exceeded', 'it is nested too deeply'],
  [
    'Excessive alias count',
    `its aliases expand to too many values; use at most ${ALIASES_MAX} aliases, where nested aliases multiply`,
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
  const parsed = parseAllDocuments(text, {
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: false,
    version: '1.2',
  })
  const template = templateOffset(parsed, text)
  if (template !== undefined) {
    return { documents, problems: [{ ...at(template), path: '', message: TEMPLATE, severity: 'error' }] }
  }
  for (const document of parsed) {
    for (const error of duplicateKeys(document)) document.errors.push(error)
    for (const problem of syntaxProblems(document, at)) problems.push(problem)
    if (document.errors.length > 0 || document.contents === null) continue
    const found = readDocument(document, document.contents, at)
    if ('message' in found) problems.push(found)
    else if (found.value !== null) documents.push(found)
  }
  return { documents, problems }
}

function readDocument(
  document: Document,
  contents: Node,
  at: (offset: number) => Position,
): LocatedDocument | FileProblem {
  const value = valueOf(document)
  if ('problem' in value) {
    const { offset = contents.range?.[0] ?? 0, problem } = value
    return { ...at(offset), path: '', message: problem, severity: 'error' }
  }
  const nesting = nestingProblem(value.value)
  if (nesting === undefined) return locatedDocument(document, value.value, at)
  const place = at(offsetOf(document, contents, nesting.parts))
  return { ...place, path: '', message: `a value here ${nesting.message}`, severity: 'error' }
}

/** Offset of the first action of a template; undefined where braces are part of YAML. */
function templateOffset(documents: readonly Document[], text: string): number | undefined {
  const [match, before = ''] = TEMPLATE_ACTION.exec(text) ?? []
  if (match === undefined || !documents.some((one) => one.errors.length > 0 || hasCompoundKey(one))) return undefined
  return text.indexOf(match) + before.length
}

/** As `{{ .Values.name }}`, which is a mapping whose key is a mapping. */
function hasCompoundKey(document: Document): boolean {
  return mapsOf(document).some(({ items }) => items.some(({ key }) => isMap(key) || isSeq(key)))
}

/** Every mapping of a document. Uses no recursion: the nesting has not been checked yet. */
function mapsOf({ contents }: Document): YAMLMap[] {
  const maps: YAMLMap[] = []
  const rest: unknown[] = [contents]
  while (rest.length > 0) {
    const node = rest.pop()
    if (isSeq(node)) for (const item of node.items) rest.push(item)
    else if (isMap(node)) {
      maps.push(node)
      for (const { key, value } of node.items) rest.push(key, value)
    }
  }
  return maps
}

/** The library compares each key with all others of its mapping: minutes for 100,000 keys. */
function duplicateKeys(document: Document): Pick<Document, 'errors'>['errors'] {
  return mapsOf(document)
    .flatMap(({ items }) => {
      const seen = new Set<unknown>()
      return items.flatMap(({ key }) => {
        if (!isScalar(key)) return []
        const isDuplicate = seen.has(key.value)
        seen.add(key.value)
        const [start = 0, end = 0] = key.range ?? []
        return isDuplicate ? [new YAMLParseError([start, end], 'DUPLICATE_KEY', 'Map keys must be unique')] : []
      })
    })
    .toSorted((a, b) => a.pos[0] - b.pos[0])
}

export function placeOfOffset(text: string, offset: number): { line: number; column: number } {
  return placeOf(lineStartsOf(text), offset)
}

export function lineStartsOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  return lines
}

function placeOf(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** After one mistake the parser often reports the rest of the line or document: that is the same mistake. */
function syntaxProblems({ errors }: Pick<Document, 'errors'>, at: (offset: number) => Position): FileProblem[] {
  const problems: FileProblem[] = []
  let tabs = false
  for (const error of errors) {
    const place = at(error.pos[0])
    const text = withoutSource(error.message)
    const former = problems.at(-1)
    if (former !== undefined && (former.line === place.line || text.endsWith('token in YAML stream'))) continue
    // A file that is indented by tabs has one mistake, not one in each line.
    if (error.code === 'TAB_AS_INDENT' && tabs) continue
    tabs ||= error.code === 'TAB_AS_INDENT'
    const cure = CURES_BY_TEXT.find(([start]) => text.startsWith(start))?.[1] ?? CURES[error.code]
    const message = `not valid YAML: ${text}${cure === undefined ? '' : `; ${cure}`}`
    problems.push({ ...place, path: '', message, severity: 'error' })
  }
  return problems
}

/** The library quotes the invalid text, which may be a secret. */
function withoutSource(message: string): string {
  const known = OWN_WORDS.find(([words]) => message.startsWith(words))
  return known === undefined ? message.replace(/: (?:".*"|[^\s"]+)$/s, '') : known[1]
}

type Value = { readonly value: unknown } | { readonly problem: string; readonly offset?: number }

function valueOf(document: Document): Value {
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown }
  } catch (error) {
    const offset = unresolvedAlias(document)
    if (offset !== undefined) return { problem: NO_ANCHOR, offset }
    return { problem: withoutSource(error instanceof Error ? error.message : String(error)) }
  }
}

/** Offset of the first one, or nothing. */
function unresolvedAlias(document: Document): number | undefined {
  const anchors = new Set<string>()
  let found: number | undefined
  visit(document, {
    Node(_, node) {
      if ('anchor' in node && typeof node.anchor === 'string') anchors.add(node.anchor)
    },
    Alias(_, alias) {
      if (anchors.has(alias.source)) return undefined
      found = alias.range?.[0]
      return visit.BREAK
    },
  })
  return found
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
  /** undefined: the path continues below what exists. */
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
  const pair = pairOf(node, part)
  if (pair === undefined) return NOWHERE
  // Keys of a parsed map are nodes; a key without a value has null.
  return { node: (pair.value as Node | null) ?? undefined, offset: (pair.key as Node).range?.[0] }
}

/** Of large mappings, whose keys may all have problems. */
const INDEXES = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>()
const INDEXED_MIN = 64

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  if (map.items.length < INDEXED_MIN) return map.items.find(({ key }) => isScalar(key) && String(key.value) === name)
  let index = INDEXES.get(map)
  if (index === undefined) {
    index = new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])))
    INDEXES.set(map, index)
  }
  return index.get(name)
}
