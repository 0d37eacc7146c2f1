// The messages of the Envoy services match the installed package. Those of OpenTelemetry need a downloaded module:
// `make verify` compares them too.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = join(import.meta.dirname, '..', 'hack', 'update-envoy-protos.sh')
const DEADLINE_MS = 60_000

it('proxy/envoy/gen is generated from the package', { tags: ['full'], timeout: DEADLINE_MS }, async () => {
  // Fails and prints any differences.
  const { stdout } = await promisify(execFile)(SCRIPT, ['--verify'], { timeout: DEADLINE_MS })
  expect(stdout).toBe('')
})
