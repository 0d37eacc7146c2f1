// docs/llm/coding-agents.md as a reader follows it: Claude Code and Codex with the file and the settings of the page,
// and model servers of this machine in place of the vendors. test/agents/run.sh installs the agents.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GwProcess, ROOT } from '#test/cli/gw.ts'
import { consoleBlocks, deviations, stepsOf } from '#test/console-steps.ts'
import { layCommand, outputsOf, Ports } from '#test/pages/shell.ts'
import { deviationFrom } from '#test/pages/tested-pages.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { serveModel } from '#test/ui/demo-model.testing.ts'
import { modelServer } from '../../hack/quickstart/model.ts'

const KEYS = { TEAM_KEY: 'team-key', OPENAI_API_KEY: 'sk-a', ANTHROPIC_API_KEY: 'sk-b' }
const START_MS = 120_000

const page = readFileSync(join(ROOT, 'docs/llm/coding-agents.md'), 'utf8')
const [claude = '', codex = ''] = consoleBlocks(page)
const folder = mkdtempSync(join(tmpdir(), 'gw-agents-'))
const openai = createServer((request, response) => void serveModel(request, response))
const anthropic = modelServer()
const servers: readonly Server[] = [openai, anthropic]
let ports: Ports
let gateway: GwProcess

beforeAll(async () => {
  const urls = { OPENAI: await listening(openai), ANTHROPIC: await listening(anthropic) }
  ports = new Ports(new Map([[4000, await freePort()]]))
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
  const changed = yaml
    .replaceAll(/^( *)apiKey: \$(OPENAI|ANTHROPIC)_API_KEY$/gm, (line, indent: string, vendor: keyof typeof urls) => {
      return `${line}\n${indent}baseUrl: http://127.0.0.1:${urls[vendor]}/v1`
    })
    .replace('llm:\n', `llm:\n  port: ${ports.of(4000)}\n`)
  writeFileSync(join(folder, 'gw.yaml'), changed)
  const [, settings = ''] = /```toml\n([\s\S]*?)```/.exec(page) ?? []
  mkdirSync(join(folder, '.codex'))
  writeFileSync(join(folder, '.codex/config.toml'), ports.inRun(settings))
  layCommand(folder)
  layAgent('claude', process.env['GW_AGENTS_CLAUDE'])
  layAgent('codex', process.env['GW_AGENTS_CODEX'])
  const flags = ['admin', 'stats', 'readiness'].map((name) => `--${name}-addr=localhost:0`)
  gateway = new GwProcess(['run', '-f', join(folder, 'gw.yaml'), '--workers=1', ...flags], KEYS)
  await gateway.says('gw: serving')
}, START_MS)

afterAll(async () => {
  await gateway?.stop()
  servers.forEach(closeServer)
  rmSync(folder, { recursive: true, force: true })
})

it('the page has no other commands', () => {
  const commands = [claude, codex].flatMap(stepsOf).map(({ command }) => command)
  expect(deviationFrom('test/agents/agents.test.ts', 'docs/llm/coding-agents.md', commands)).toBeUndefined()
})

function layAgent(name: string, program: string | undefined): void {
  if (program === undefined) throw new Error(`this test needs ${name}: make agents installs it`)
  symlinkSync(program, join(folder, 'bin', name))
}

/** Without settings of the user of this machine. `before`: in front of each command. */
async function run(block: string, before = ''): Promise<string[]> {
  const environment = `export HOME="$PWD" CODEX_HOME="$PWD/.codex" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1; ${before}`
  const change = (command: string): string => `${environment}\n${command} </dev/null`
  return outputsOf(stepsOf(block), { folder, ports, change })
}

function requestsTo(path: string): string[] {
  return gateway.stdout.split('\n').filter((line) => line.includes(`http.path=${path}`) && line.includes('status=200'))
}

it('Claude Code gets answers of a model of Anthropic with the commands of the page', async () => {
  const printed = await run(claude)
  expect(deviations(stepsOf(claude), printed)).toEqual([])
  expect(printed.at(-1)).toContain('You said:')
  expect(printed.at(-1)).toContain('Say hello')
  expect(requestsTo('/v1/messages').some((line) => line.includes('provider.name=anthropic'))).toBe(true)
})

it('Claude Code gets answers of a model of OpenAI, calls a tool, and sends its result', async () => {
  const model = 'export ANTHROPIC_MODEL=gpt-5 ANTHROPIC_DEFAULT_HAIKU_MODEL=gpt-5-mini'
  expect((await run(claude, model)).at(-1)).toContain('The tool says <tool_use_error>Error: No such tool available')
  const requests = requestsTo('/v1/messages').filter((line) => line.includes('provider.name=openai'))
  expect(requests.length).toBeGreaterThan(1)
})

it('Codex gets answers with the settings and the command of the page, calls a tool, and sends its result', async () => {
  const printed = await run(codex)
  expect(deviations(stepsOf(codex), printed)).toEqual([])
  expect(printed.at(-1)).toContain('The tool says unsupported call: forecast')
  expect(requestsTo('/v1/responses').length).toBeGreaterThan(1)
})
