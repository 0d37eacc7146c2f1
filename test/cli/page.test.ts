// The output in docs/cli.md is real: its commands about files run, and print the output of the page.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gw, ROOT } from './gw.ts'
import { firstOf } from '../run/table.ts'

/** The mark for omitted lines on the page. */
const LEFT_OUT = '...'

const page = readFileSync(join(ROOT, 'docs', 'cli.md'), 'utf8')
const examples = [...page.matchAll(/^```\n\$ gw ((?:validate|translate) .+)\n([\s\S]*?)^```/gm)].map(
  ([, command = '', output = '']) => [command, output] as [string, string],
)

describe('docs/cli.md', () => {
  it('has examples', () => expect(examples.length).toBeGreaterThan(5))

  firstOf(2)(examples)('gw %s', async (command, output) => {
    const { stdout, stderr } = await gw(...command.split(' '))
    const parts = `\n${output}`.split(`\n${LEFT_OUT}\n`).map((part) => part.trim())
    for (const part of parts) expect(`${stderr}${stdout}`).toContain(part)
  })
})
