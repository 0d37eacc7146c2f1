// docs/llm/failover.md as a reader follows it, with the server of the page in place of both providers.
// Requires bash and curl.
// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
const KEYS = { OPENAI_API_KEY: 'sk-a', ANTHROPIC_API_KEY: 'sk-b' }

const TEST = 'test/pages/failover.test.ts'
const PAGE = 'docs/llm/failover.md'
const page = readPage(PAGE)
/** The commands that start something. */
const plain = commandsFor(TEST, PAGE).flatMap(({ command, isShown }) => (isShown ? [] : [command]))
const blocks = consoleBlocks(page)
const folder = mkdtempSync(join(tmpdir(), 'gw-failover-'))
let server: ChildProcess
let gateway: GwProcess
let ports: Ports

beforeAll(async () => {
  const modelPort = await freePort()
  const env = { ...process.env, MODEL_PORT: String(modelPort) }
  const command = plain.find((one) => one.includes('hack/model.ts')) ?? ''
  server = spawn('bash', ['-c', `exec ${command}`], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  if (server.stdout !== null) await once(server.stdout, 'data')
  const admin = await freePort()
  ports = new Ports(new Map([[4000, await freePort()]]))
  const [whole = '', ...parts] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  const local = parts.slice(0, 2).reduce((text, part) => text.replace(lineLike(part), part.trim()), whole)
  if (local.match(/baseUrl/g)?.length !== 2) throw new Error('the page has no address for both models')
  const own = local.replaceAll('18082', String(modelPort)).replace('llm:\n', `llm:\n  port: ${ports.of(4000)}\n`)
  writeFileSync(join(folder, 'gw.yaml'), own)
  layCommand(folder)
  const starts = plain.filter((one) => !one.includes('hack/'))
  gateway = startInShell(starts, folder, { ...KEYS, ADMIN_ADDR: `127.0.0.1:${admin}` })
  await gateway.says('gw: serving')
  adminFlag = ` --admin-addr 127.0.0.1:${admin}`
}, START_MS)

let adminFlag = ''

afterAll(async () => {
  await gateway.stop()
  const ended = once(server, 'exit')
  server.kill()
  await ended
  rmSync(folder, { recursive: true })
})

/** The parameters of the file with the key of a part, without an address. */
function lineLike(part: string): string {
  return part.trim().replace(/, baseUrl: .* \}/, ' }')
}

describe('docs/llm/failover.md', () => {
  it('has no other commands', () => {
    const shown = blocks.flatMap(stepsOf).map(({ command }) => command)
    expect(deviationFrom(TEST, PAGE, [...shown, ...plain])).toBeUndefined()
  })

  it('shows what its requests print, the log, and the eviction', { timeout: START_MS }, async () => {
    const change = (command: string): string => command.replace('--local', `--local${adminFlag}`)
    const [first = '', evicted = ''] = blocks
    expect(deviations(stepsOf(first), await outputsOf(stepsOf(first), { folder, ports, change }))).toEqual([])
    const [, shown = ''] = /```\n(info request[\s\S]*?)```/.exec(page) ?? []
    const line = (): string => gateway.stdout.split('\n').find((text) => text.includes('failed_providers')) ?? ''
    await until(
      'a line of the log with the provider that failed',
      () => line() !== '',
      () => gateway.stdout,
    )
    expect(isOutput(line().slice(line().indexOf('\t')), shown)).toBe(true)
    expect(deviations(stepsOf(evicted), await outputsOf(stepsOf(evicted), { folder, ports, change }))).toEqual([])
  })
})
