// docs/cli.md shows what really happens: its commands about files are run, and print what the page says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gw, ROOT } from './gw.ts'

/** What stands on the page for lines that are left out. */
const LEFT_OUT = '...'

const page = readFileSync(join(ROOT, 'docs', 'cli.md'), 'utf8')
const examples = [...page.matchAll(/^```\n\$ gw ((?:validate|translate) .+)\n([\s\S]*?)^```/gm)].map(
  ([, command = '', output = '']) => [command, output] as const,
)

describe('docs/cli.md', () => {
  it('has examples', () => expect(examples.length).toBeGreaterThan(5))

  it.each(examples)('gw %s', async (command, output) => {
    const { stdout, stderr } = await gw(...command.split(' '))
    const parts = `\n${output}`.split(`\n${LEFT_OUT}\n`).map((part) => part.trim())
    for (const part of parts) expect(`${stderr}${stdout}`).toContain(part)
  })
})
