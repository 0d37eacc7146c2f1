// The commands in the code blocks of pages.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stepsOf } from '#test/console-steps.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Without `$ `, all lines are commands but those that begin with `#`: comments, and outputs. */
const SHELLS = new Set(['sh', 'bash', 'console'])
/** Blocks with other languages contain no commands. */
const PLAIN = new Set(['', 'text'])
/** A block without a language has commands if its first line begins with one of these. */
const PROGRAMS =
  /^(?:[A-Za-z_]+=(?:"[^"]*"|'[^']*'|\S)* )*(?:(?:bin\/|\.\/)?(?:gw|kubectl-gw)|alias|cd|claude|codex|cosign|crane|curl|docker|echo|export|git|go|helm|jq|kind|kubectl|make|node|npm|npx|openssl|sed|sha256sum|skopeo|source|vitest|(?:hack|dist)\/\S+|\/usr\/bin\/\S+|node_modules\/\S+)(?: |$)|^[A-Za-z_]+=\$\(/
const COMMENT = /\s+# .*$/

export interface PageCommand {
  readonly page: string
  readonly line: number
  /** As on the page, without the comment at its end. */
  readonly command: string
  /** What the page shows below it. */
  readonly output: string
  /** Whether the page marks it with `$ `. */
  readonly isShown: boolean
}

interface Block {
  readonly line: number
  readonly language: string
  readonly text: string
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

/** The content of the first block of YAML of the page with the text. */
export function yamlOf(page: string, text: string): string {
  const blocks = [...readPage(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  const found = blocks.find((block) => block.includes(text))
  if (found === undefined) throw new Error(`${page} has no block with ${text}`)
  return found
}

/** In the order of the page. */
export function commandsOf(page: string, markdown = readPage(page)): PageCommand[] {
  return blocksOf(markdown).flatMap((block) => {
    const isShown = /^\$ /m.test(block.text)
    const steps = isShown ? stepsOf(block.text) : plainSteps(block)
    let from = 0
    return steps.map(({ command, output }) => {
      const at = block.text.indexOf(command, from)
      from = at + command.length
      const line = block.line + block.text.slice(0, at).split('\n').length
      return { page, line, command: isShown ? command : withoutComment(command), output, isShown }
    })
  })
}

/** With a language, which may be empty. */
const FENCED = /^ *```(\w*)\n([\s\S]*?)^ *```/gm
/** After an empty line. */
const INDENTED = /(?<=\n\n)(?: {4}.*\n(?:\n+(?= {4}))?)+/g

/** Lines of blocks within lists lose their indentation. */
function blocksOf(markdown: string): Block[] {
  const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length
  const fenced = [...markdown.matchAll(FENCED)].map(({ 1: language = '', 2: text = '', index }) => ({
    line: lineOf(markdown, index),
    language,
    text: unindented(text.split('\n')),
  }))
  // Other lines keep their places.
  const rest = `${markdown.replaceAll(FENCED, (block) => block.replaceAll(/[^\n]+/g, '-'))}\n`
  const indented = [...rest.matchAll(INDENTED)].map(({ 0: text, index }) => ({
    line: lineOf(rest, index) - 1,
    language: '',
    text: unindented(text.split('\n')),
  }))
  return [...fenced, ...indented].toSorted((a, b) => a.line - b.line)
}

function unindented(lines: readonly string[]): string {
  const widths = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const width = Math.min(...widths, Infinity)
  return lines.map((line) => line.slice(width === Infinity ? 0 : width)).join('\n')
}

/** Of a block without `$ `. Lines that are no commands are the output of the one before. */
function plainSteps({ language, text }: Block): { command: string; output: string }[] {
  if (!SHELLS.has(language) && !PLAIN.has(language)) return []
  const lines = text.split(/(?<!\\)\n/).filter((line) => line.trim() !== '')
  const isCommand = (line: string): boolean => (SHELLS.has(language) ? !line.startsWith('#') : PROGRAMS.test(line))
  if (!SHELLS.has(language) && !PROGRAMS.test(lines[0] ?? '')) return []
  const steps: { command: string; output: string }[] = []
  for (const line of lines) {
    const last = steps.at(-1)
    if (isCommand(line)) steps.push({ command: line, output: '' })
    else if (last !== undefined) last.output = `${last.output}\n${line.replace(/^# /, '')}`.trim()
  }
  return steps
}

function withoutComment(command: string): string {
  return command.replace(COMMENT, '').trimEnd()
}
