// docs/credentials/fetched.md as a reader follows it, with config/samples/credentials/oauth-token-exchange.yaml and an
// authorization server of this machine. Requires bash and jq.
// @module-tag full
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { GwProcess, ROOT } from '#test/cli/gw.ts'
import { deviations } from '#test/console-steps.ts'
import { startProvider } from '#test/credentials/oauth-provider.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { layCommand, outputsOf, Ports } from './shell.ts'
import { commandsFor } from './tested-pages.ts'

const CASE_MS = 120_000

it('docs/credentials/fetched.md shows the credentials that the proxy has', { timeout: CASE_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-fetched-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const app = createServer((_, response) => response.end())
  onTestFinished(() => closeServer(app))
  const issuer = await startProvider()
  onTestFinished(() => issuer.stop())
  const numbers = [
    [8080, await freePort()],
    [15_000, await freePort()],
    [18_081, await listening(app)],
    [18_102, issuer.port],
  ] as const
  const ports = new Ports(new Map(numbers))
  const sample = readFileSync(join(ROOT, 'config/samples/credentials/oauth-token-exchange.yaml'), 'utf8')
  writeFileSync(join(folder, 'gw.yaml'), ports.inRun(sample))
  layCommand(folder)
  const admin = `localhost:${ports.of(15_000)}`
  const flags = [`--admin-addr=${admin}`, '--stats-addr=localhost:0', '--readiness-addr=localhost:0']
  const gateway = new GwProcess(['run', '-f', join(folder, 'gw.yaml'), '--workers=1', ...flags])
  onTestFinished(() => gateway.stop())
  await gateway.says('gw: serving')
  const token = await issuer.signed({ sub: 'alice' })
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`http://127.0.0.1:${ports.of(8080)}/app`, { headers })).status).toBe(200)
  const steps = commandsFor('test/pages/fetched-credentials.test.ts', 'docs/credentials/fetched.md')
  const change = (command: string): string => command.replace('--local', `--local --admin-addr ${admin}`)
  expect(deviations(steps, await outputsOf(steps, { folder, ports, change }))).toEqual([])
})
