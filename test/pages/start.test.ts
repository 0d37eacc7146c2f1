// docs/llm/start.md as a reader follows it, with the model server of the quickstart in place of the providers.
// Requires bash, curl and jq.
// @module-tag full
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GwProcess, ROOT, until } from '#test/cli/gw.ts'
import { consoleBlocks, deviations, isOutput, stepsOf } from '#test/console-steps.ts'
import { closeServer, freePort } from '#test/ports.ts'
import { modelServer } from '../../hack/quickstart/model.ts'
import { layCommand, outputsOf, Ports } from './shell.ts'

const START_MS = 120_000
const KEYS = { TEAM_KEY: 'team-key', OPENAI_API_KEY: 'sk-a', ANTHROPIC_API_KEY: 'sk-b' }

const page = readFileSync(join(ROOT, 'docs/llm/start.md'), 'utf8')
const [models = '', chat = '', cost = '', limit = ''] = consoleBlocks(page)
const folder = mkdtempSync(join(tmpdir(), 'gw-start-'))
const file = join(folder, 'gw.yaml')
let server: Server
let gateway: GwProcess
let ports: Ports

beforeAll(async () => {
  server = modelServer().listen(0, '127.0.0.1')
  if (!server.listening) await once(server, 'listening')
  ports = new Ports(
    new Map([
      [4000, await freePort()],
      [15_020, await freePort()],
    ]),
  )
  const { port } = server.address() as AddressInfo // a TCP server
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
  const changed = yaml
    .replaceAll('_API_KEY }', `_API_KEY, baseUrl: "http://127.0.0.1:${port}/v1" }`)
    .replace('llm:\n', `llm:\n  port: ${ports.of(4000)}\n`)
  writeFileSync(file, changed)
  layCommand(folder)
  const flags = ['--workers=1', '--admin-addr=localhost:0', '--readiness-addr=localhost:0']
  gateway = new GwProcess(['run', '-f', file, ...flags, `--stats-addr=localhost:${ports.of(15_020)}`], KEYS)
  await gateway.says('gw: serving')
}, START_MS)

afterAll(async () => {
  await gateway.stop()
  closeServer(server)
  rmSync(folder, { recursive: true })
})

/** What its steps print. */
const outputs = (block: string): Promise<string[]> =>
  outputsOf(stepsOf(block), { folder, ports, change: (command) => `TEAM_KEY=team-key\n${command}` })

describe('docs/llm/start.md', () => {
  it('shows what its first requests print', { timeout: START_MS }, async () => {
    for (const block of [models, chat]) expect(deviations(stepsOf(block), await outputs(block))).toEqual([])
  })

  it('shows the line of the log with tokens and cost', { timeout: START_MS }, async () => {
    const [, shown = ''] = /```\n(info request[\s\S]*?)```/.exec(page) ?? []
    const line = (): string | undefined => gateway.stdout.split('\n').find((text) => text.includes('cost.total'))
    await until(
      'a line of the log with the cost',
      () => line() !== undefined,
      () => gateway.stdout,
    )
    expect(isOutput((line() ?? '').slice((line() ?? '').indexOf('\t')), `${shown}…`)).toBe(true)
  })

  it('shows the metric of the cost', { timeout: START_MS }, async () => {
    expect(deviations(stepsOf(cost), await outputs(cost))).toEqual([])
  })

  it('shows what its last command prints after the limit of tokens', { timeout: START_MS }, async () => {
    writeFileSync(file, readFileSync(file, 'utf8').replace('maxTokens: 20000', 'maxTokens: 5'))
    await gateway.says('gw: reloaded')
    for (const _ of [1, 2]) await outputs(limit)
    expect(deviations(stepsOf(limit), await outputs(limit))).toEqual([])
  })
})
