// The commands of a page with the output that it shows, for tests that run them.

export interface Step {
  readonly command: string
  readonly output: string
}

/** The content of each block of code with the language `console`. */
export function consoleBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
}

/** A line that begins with `$ ` is a command; what follows is its output. */
export function stepsOf(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [command = '', ...output] = text.split('\n')
      return { command, output: output.join('\n').trim() }
    })
}
