// The messages of the Envoy services are what the installed package gives. Those of OpenTelemetry need a module that is
// downloaded: `make verify` compares them as well.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = join(import.meta.dirname, '..', 'hack', 'update-envoy-protos.sh')
const DEADLINE_MS = 60_000

it(
  'proxy/envoy/gen is generated from the package',
  async () => {
    // Fails, and prints the differences, when there are any.
    const { stdout } = await promisify(execFile)(SCRIPT, ['--verify'], { timeout: DEADLINE_MS })
    expect(stdout).toBe('')
  },
  DEADLINE_MS,
)
