// docs/migrating.md: the commands print for the file of the page what the page shows. Requires bash.
// @module-tag full
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '#test/cli/gw.ts'
import { deviations } from '#test/console-steps.ts'
import { layCommand, outputsOf, Ports } from './shell.ts'
import { commandsFor } from './tested-pages.ts'

const RUN_MS = 120_000

it('docs/migrating.md', { timeout: RUN_MS }, async () => {
  const page = readFileSync(join(ROOT, 'docs/migrating.md'), 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'gw-migrating-'))
  layCommand(folder)
  writeFileSync(join(folder, 'config.yaml'), /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '')
  const steps = commandsFor('test/pages/migrating.test.ts', 'docs/migrating.md')
  const outputs = await outputsOf(steps, { folder, ports: new Ports(new Map()) })
  rmSync(folder, { recursive: true })
  const shown = steps.map((step, at) => ({ step, printed: outputs[at] ?? '' })).filter(({ step }) => step.isShown)
  expect(shown.length).toBeGreaterThan(2)
  expect(
    deviations(
      shown.map(({ step }) => step),
      shown.map(({ printed }) => printed),
    ),
  ).toEqual([])
})
