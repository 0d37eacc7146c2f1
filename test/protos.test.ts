// The generated messages match their sources: those of the Envoy services the installed package, those of guardrails of
// MCP our own file. Those of OpenTelemetry need a downloaded module: `make verify` compares them too.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPTS = join(import.meta.dirname, '..', 'hack')
const DEADLINE_MS = 60_000

it.each([
  ['proxy/envoy/gen is generated from the package', 'update-envoy-protos.sh'],
  ['proxy/mcp/guardrails/gen is generated from api/mcp/protos', 'update-mcp-protos.sh'],
])('%s', { tags: ['full'], timeout: DEADLINE_MS }, async (_, script) => {
  // Fails and prints any differences.
  const { stdout } = await promisify(execFile)(join(SCRIPTS, script), ['--verify'], { timeout: DEADLINE_MS })
  expect(stdout).toBe('')
})
