// The output in docs/cli.md is real: its commands about files run, and print the output of the page.
import { describe, expect, it } from 'vitest'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { gw } from './gw.ts'
import { firstOf } from '../run/table.ts'

/** The mark for omitted lines on the page. */
const LEFT_OUT = '...'

const examples = commandsFor('test/cli/page.test.ts', 'docs/cli.md').map(
  ({ command, output }) => [command.slice('gw '.length), output] as [string, string],
)

describe('docs/cli.md', () => {
  it('has examples', () => expect(examples.length).toBeGreaterThan(5))

  firstOf(2)(examples)('gw %s', async (command, output) => {
    const { stdout, stderr } = await gw(...command.split(' '))
    const parts = `\n${output}\n`.split(`\n${LEFT_OUT}\n`).map((part) => part.trim())
    for (const part of parts) expect(`${stderr}${stdout}`).toContain(part)
  })
})
