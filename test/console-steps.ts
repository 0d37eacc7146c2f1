// The commands of a page with the output that it shows, for tests that run them.

export interface Step {
  readonly command: string
  readonly output: string
}

/** The content of each block of code with the language `console`. */
export function consoleBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
}

/** The content of all blocks of code that show a command with `$ `: fenced ones of any language, and indented ones. */
export function commandBlocks(markdown: string): string[] {
  const fenced = [...markdown.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  const rest = markdown.replaceAll(/^```\w*\n[\s\S]*?^```/gm, '')
  const indented = [...rest.matchAll(/(?:^ {4}.*\n(?:\s*\n(?= {4}))?)+/gm)].map(([block]) =>
    block.replaceAll(/^ {4}/gm, ''),
  )
  return [...fenced, ...indented].filter((block) => /^\$ /m.test(block))
}

/** A line that begins with `$ ` is a command; a `\` at its end continues it. What follows is its output. */
export function stepsOf(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [command = ''] = /^(?:.*\\\n)*.*/.exec(text) ?? []
      return { command, output: text.slice(command.length).trim() }
    })
}

/** In outputs of one run and of a page: what differs from run to run. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/^(\d+ +)[\d.]+ /gm, '$1T '],
  [/"event(Start|End)":\d+/g, '"event$1":T'],
  [/"created":\d+/g, '"created":T'],
  [/\d+(?:\.\d+)? ?ms\b/g, 'T ms'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'D'],
  [/\bcurl\/[\d.]+/g, 'curl/V'],
]

/** Without what differs from run to run, and without white space: pages wrap long lines, and columns get wider. */
function comparableOutput(text: string): string {
  return VARIABLE.reduce((result, [pattern, name]) => result.replaceAll(pattern, name), text).replaceAll(/\s+/g, '')
}

/** Whether an output is what a page shows. A `…` of the page stands for any text. */
export function isOutput(printed: string, page: string): boolean {
  const parts = comparableOutput(page).split('…')
  const pattern = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('[^]*?')
  return new RegExp(`^${pattern}$`).test(comparableOutput(printed))
}

/** Of each step that printed something else than its page shows. */
export function deviations(steps: readonly Step[], printed: readonly string[]): string[] {
  return steps.flatMap(({ command, output }, at) => {
    const text = printed[at] ?? ''
    return isOutput(text, output) ? [] : [`${command}\nprinted:\n${text}\nthe page shows:\n${output}`]
  })
}
