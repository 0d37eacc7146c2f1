// docs/start/from-ingress.md: its commands run as written, and print what the page shows.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { consoleBlocks, stepsOf } from '../console-steps.ts'
import { deviationFrom } from '../pages/tested-pages.ts'
import { remove } from './suite/kubectl.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SAMPLE = 'docs/start/shop.yaml'
const MARK = '\u0001'
const PAGE_MS = 300_000
const FORWARDED = 18_480

afterAll(async () => remove(SAMPLE))

/** Clusters of tests have no route from this machine to their addresses. */
function reachable(command: string): string {
  if (!command.startsWith('ADDRESS=')) return command
  return `${command}\nkubectl port-forward -n shop service/web ${FORWARDED}:80 > /dev/null &\nADDRESS=127.0.0.1:${FORWARDED}`
}

/** `…` on the page stands for any text. */
function asPattern(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('[^\n]*')}$`)
}

describe('moving from an Ingress', () => {
  it('works as the page shows', { timeout: PAGE_MS }, async ({ skip }) => {
    skip(
      (process.env['GW_E2E_CLUSTER'] ?? '') === '',
      'only in a cluster of kind: the image of the sample is loaded there',
    )
    const page = readFileSync(join(ROOT, 'docs/start/from-ingress.md'), 'utf8')
    const steps = consoleBlocks(page).flatMap(stepsOf)
    const commands = steps.map(({ command }) => command)
    expect(deviationFrom('test/e2e/37-from-ingress.test.ts', 'docs/start/from-ingress.md', commands)).toBeUndefined()
    const script = steps.map(({ command }) => `{ ${reachable(command)}\n} 2>&1\nprintf '${MARK}'`).join('\n')
    const { stdout } = await promisify(execFile)('bash', ['-c', `trap 'kill $(jobs -p)' EXIT\n${script}`], {
      cwd: ROOT,
      timeout: PAGE_MS,
    })
    const outputs = stdout.replaceAll('\r', '').split(MARK).slice(0, -1)
    expect(outputs).toHaveLength(steps.length)
    for (const [at, { command, output }] of steps.entries()) {
      expect([command, outputs[at]?.trim()]).toEqual([command, expect.stringMatching(asPattern(output))])
    }
  })
})
