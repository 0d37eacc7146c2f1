// docs/llm/start.md as a reader follows it, without a key: with the server of the page in place of providers.
// Requires bash, curl and jq.
// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GwProcess, ROOT, until } from '#test/cli/gw.ts'
import { consoleBlocks, deviations, isOutput, stepsOf } from '#test/console-steps.ts'
import { freePort } from '#test/ports.ts'
import { readPage } from './page-commands.ts'
import { layCommand, outputsOf, Ports, startInShell } from './shell.ts'
import { commandsFor, deviationFrom } from './tested-pages.ts'

const START_MS = 120_000
const KEYS = { TEAM_KEY: 'team-key', OPENAI_API_KEY: 'sk-a', ANTHROPIC_API_KEY: 'sk-b' }

const TEST = 'test/pages/start.test.ts'
const PAGE = 'docs/llm/start.md'
const page = readPage(PAGE)
/** The commands that start something. */
const plain = commandsFor(TEST, PAGE).flatMap(({ command, isShown }) => (isShown ? [] : [command]))
const [models = '', chat = '', cost = '', limit = ''] = consoleBlocks(page)
const folder = mkdtempSync(join(tmpdir(), 'gw-start-'))
const file = join(folder, 'gw.yaml')
let server: ChildProcess
let gateway: GwProcess
let ports: Ports

beforeAll(async () => {
  const modelPort = await freePort()
  server = await modelServer(modelPort)
  ports = new Ports(
    new Map([
      [4000, await freePort()],
      [15_020, await freePort()],
    ]),
  )
  const [whole = '', part = ''] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  const [, more = ''] = /(, baseUrl: .*) \}/.exec(part) ?? []
  const changed = whole
    .replaceAll('_API_KEY }', `_API_KEY${more.replace('18082', String(modelPort))} }`)
    .replace('llm:\n', `llm:\n  port: ${ports.of(4000)}\n`)
  if (changed.match(/baseUrl/g)?.length !== 2) throw new Error('the page has no address for both models')
  writeFileSync(file, changed)
  layCommand(folder)
  const starts = plain.filter((command) => !command.includes('hack/'))
  gateway = startInShell(starts, folder, { ...KEYS, STATS_ADDR: `localhost:${ports.of(15_020)}` })
  await gateway.says('gw: serving')
}, START_MS)

afterAll(async () => {
  await gateway.stop()
  const ended = once(server, 'exit')
  server.kill()
  await ended
  rmSync(folder, { recursive: true })
})

/** The server of the page for readers without a key. */
async function modelServer(port: number): Promise<ChildProcess> {
  const command = plain.find((one) => one.includes('hack/model.ts')) ?? ''
  const env = { ...process.env, MODEL_PORT: String(port) }
  const child = spawn('bash', ['-c', `exec ${command}`], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

/** What its steps print. */
const outputs = (block: string): Promise<string[]> =>
  outputsOf(stepsOf(block), { folder, ports, change: (command) => `TEAM_KEY=team-key\n${command}` })

describe('docs/llm/start.md', () => {
  it('has no other commands', () => {
    const shown = [models, chat, cost, limit].flatMap(stepsOf).map(({ command }) => command)
    expect(deviationFrom(TEST, PAGE, [...shown, ...plain])).toBeUndefined()
    expect(plain).toHaveLength(3)
  })

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
