// Variables in the text of a standalone file: `$NAME`, `${NAME}`, `${NAME:-default}`, `$$` for a dollar sign, and `~/`
// at the start of a word. Comments are not changed. Only hand-written files are expanded, never rendered
// configuration.
import { Lexer } from 'yaml'
import { placeOfOffset, type FileProblem, type OriginalText } from '#api/source/document.ts'

export interface ExpandedText {
  readonly text: string
  /** Maps positions in the expanded text to the file. */
  readonly original: OriginalText
  readonly problems: readonly FileProblem[]
}

export interface ExpansionInput {
  readonly path: string
  readonly text: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Limit of the expanded text. */
const EXPANDED_LENGTH_MAX = 16 * 1024 * 1024
// Alternatives: the field `$schema`, which stays; `$$`; `${...}`; `${` without its end; `$NAME`; `~/` where a value
// begins.
const REFERENCE =
  /\$schema(?=["']\s*:|:\s)|\$\$|\$\{([^}\n]*)\}|\$\{|\$([A-Za-z_][A-Za-z0-9_]*)|(?<=^|[\s"'[,])~(?=\/)/g
const SCHEMA_FIELD = '$schema'
const BRACED = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

export function expandVariables({ path, text, environment }: ExpansionInput): ExpandedText {
  const problems: FileProblem[] = []
  const map = new OffsetMap()
  const isComment = commentsOf(text)
  let expanded = ''
  let rest = 0
  for (const match of text.matchAll(REFERENCE)) {
    if (isComment(match.index)) continue
    const value = valueOf(match, environment)
    if ('problem' in value) {
      problems.push({
        file: path,
        ...placeOfOffset(text, match.index),
        path: '',
        message: value.problem,
        severity: 'error',
      })
      continue
    }
    expanded += text.slice(rest, match.index) + value.text
    rest = match.index + match[0].length
    map.add({ start: expanded.length - value.text.length, end: expanded.length, from: match.index, to: rest })
    if (expanded.length > EXPANDED_LENGTH_MAX) {
      problems.push({ file: path, line: 1, column: 1, path: '', message: TOO_LONG, severity: 'error' })
      break
    }
  }
  expanded += text.slice(rest)
  return { text: expanded, original: { text, offsetOf: (offset) => map.originalOffset(offset) }, problems }
}

/** The separator that the lexer puts between the pieces of the text; not part of it. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f'])
const SCALAR_MARK = '\u001f'

/** Whether an offset is in a comment. Called with increasing offsets. Variables may be where YAML allows none. */
function commentsOf(text: string): (offset: number) => boolean {
  const comments: { readonly start: number; readonly end: number }[] = []
  let start = 0
  let former = ''
  for (const piece of new Lexer().lex(text)) {
    // A block of text may begin with the same character.
    if (piece.startsWith('#') && former !== SCALAR_MARK) comments.push({ start, end: start + piece.length })
    if (!MARKS.has(piece)) start += piece.length
    former = piece
  }
  let next = 0
  return (offset) => {
    while ((comments[next]?.end ?? Infinity) <= offset) next++
    return (comments[next]?.start ?? Infinity) <= offset
  }
}

/** Text without variables. */
export function asWritten(text: string): ExpandedText {
  return { text, original: { text, offsetOf: (offset) => offset }, problems: [] }
}

const TOO_LONG = `with its variables expanded, the file is longer than ${EXPANDED_LENGTH_MAX} characters`

type Value = { readonly text: string } | { readonly problem: string }

function valueOf(
  [all, braced, plain]: RegExpMatchArray,
  environment: Readonly<Record<string, string | undefined>>,
): Value {
  if (all === '$$') return { text: '$' }
  if (all === SCHEMA_FIELD && plain === undefined) return { text: all }
  if (all === '~') return lookUp('HOME', undefined, environment)
  if (plain !== undefined) return lookUp(plain, undefined, environment)
  if (braced === undefined)
    return { problem: 'a variable begins with ${ but has no closing }; write $$ for a dollar sign' }
  const [, name, fallback] = BRACED.exec(braced) ?? []
  if (name === undefined) {
    return { problem: '${...} must contain a variable name, or NAME:-default; write $$ for a dollar sign' }
  }
  return lookUp(name, fallback, environment)
}

/** As in a shell, the default also replaces an empty variable. */
function lookUp(
  name: string,
  fallback: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Value {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined
  if (fallback !== undefined && (value === undefined || value === '')) return { text: fallback }
  if (value !== undefined) return { text: value }
  return {
    problem: `the environment variable ${name} is not set; set it, or write \${${name}:-default}, or $$ for a dollar sign`,
  }
}

interface Replacement {
  /** Of the value, in the expanded text. */
  readonly start: number
  readonly end: number
  /** Of the reference, in the file. */
  readonly from: number
  readonly to: number
}

class OffsetMap {
  readonly #replacements: Replacement[] = []

  add(replacement: Replacement): void {
    this.#replacements.push(replacement)
  }

  /** Every position inside a value maps to the start of the reference. */
  originalOffset(offset: number): number {
    let low = 0
    let high = this.#replacements.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#replacements[middle]?.start ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    const last = this.#replacements[low - 1]
    if (last === undefined) return offset
    return offset < last.end ? last.from : last.to + (offset - last.end)
  }
}
