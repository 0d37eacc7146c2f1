// Coding agents as clients: their recorded requests through a gateway with the file of docs/llm/coding-agents.md, to a
// provider of their own format, and translated to the other vendor. UPDATE_GOLDEN=1 writes the outputs.
// @module-tag full
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { compareGolden, goldenFolder, readGolden, removeOrphans } from '#test/golden.ts'
import { freePort } from '#test/ports.ts'
import { loadStandalone } from '../config/standalone/load.ts'
import { ON_LOOPBACK } from '../main.testing.ts'
import { type RunningProxy, startProxy } from '../main.ts'
import { type Asked, type Emulator, sendEvents, sendJson, startEmulator } from './emulator.testing.ts'
import { asArray, asObject, asString, type JsonObject } from './json.ts'
import { VENDORS } from './translate/vendors.testing.ts'

const PAGE = join(import.meta.dirname, '../../docs/llm/coding-agents.md')
const ROOT = join(import.meta.dirname, 'testdata/agents')
const ENVIRONMENT = { TEAM_KEY: 'team-key', OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic' }

const FORMATS = [
  ['/chat/completions', 'Completions'],
  ['/messages', 'Messages'],
  ['/responses', 'Responses'],
] as const

/** A model of the other vendor, by the beginning of the model that was recorded. */
const OTHERS = { claude: 'gpt-5', gpt: 'claude-sonnet-4-5' } as const

let emulator: Emulator
let proxy: RunningProxy
let url: string

function answer({ path }: Asked, send: Parameters<Emulator['answer']>[1]): void {
  const end = path.replace(/\?.*/, '')
  if (end.endsWith('/count_tokens')) return sendJson(send, { input_tokens: 42 })
  const [, name = 'Completions'] = FORMATS.find(([suffix]) => end.endsWith(suffix)) ?? []
  const call = { id: 'call_1', name: 'crm__find', input: '{"a":1}' }
  const usage = { input: 30, cached: 0, output: 7 }
  sendEvents(send, VENDORS[name].stream({ text: 'Let me see.', calls: [call], stop: 'toolCalls', usage }))
}

/** The file of the page, with the emulator in place of both vendors. */
function fileWith(port: number): string {
  const [, block = ''] = /```yaml\n([^]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  const { llm } = parse(block) as { llm: { models: { params: JsonObject }[] } }
  for (const { params } of llm.models) params['baseUrl'] = `${emulator.url}/v1`
  return stringify({ llm: { ...llm, port } })
}

beforeAll(async () => {
  emulator = await startEmulator()
  emulator.answer = answer
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const { rendered, problems } = loadStandalone({ path: 'gw.yaml', text: fileWith(port), environment: ENVIRONMENT })
  if (rendered === undefined || problems.length > 0) throw new Error(`the page is wrong: ${JSON.stringify(problems)}`)
  proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const applied = await proxy.apply(rendered.config, rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
})

beforeEach(() => {
  emulator.asked.length = 0
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  emulator.stop()
})

interface Recorded {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

async function send({ method, path, headers }: Recorded, body: string | undefined) {
  const credential: Readonly<Record<string, string>> =
    body === undefined ? {} : { authorization: `Bearer ${ENVIRONMENT.TEAM_KEY}` }
  const response = await fetch(`${url}${path}`, { method, headers: { ...headers, ...credential }, body: body ?? null })
  return { status: response.status, text: await response.text() }
}

/** The request in one line, with the header fields of the vendor. */
function shown({ path, headers, text }: Asked): string {
  const own = Object.keys(headers).filter((name) => name.startsWith('anthropic-') || name === 'x-api-key')
  return `${path} ${own.length === 0 ? '' : `with ${own.toSorted().join(', ')} `}${text}`
}

async function outcomes(recorded: Recorded): Promise<readonly string[]> {
  const { body } = recorded
  if (body === undefined) return [`status ${(await send(recorded, undefined)).status}`]
  const model = asString(body['model']) ?? ''
  const other = OTHERS[model.startsWith('claude') ? 'claude' : 'gpt']
  const lines: string[] = []
  for (const asked of [model, other]) {
    emulator.asked.length = 0
    const text = JSON.stringify({ ...body, model: asked })
    const { status, text: answered } = await send(recorded, text)
    const [sent] = emulator.asked
    const isSame = sent?.text === text
    lines.push(
      `${asked}: status ${status}, ${sent === undefined ? answered : isSame ? `${sent.path} unchanged` : shown(sent)}`,
    )
  }
  return lines
}

describe('the recorded requests', () => {
  const folder = goldenFolder(ROOT)

  it('have no output without an input', () => {
    expect(removeOrphans(ROOT, folder)).toEqual([])
    expect(folder.cases.map(({ name }) => name)).toEqual(['claude-code', 'codex'])
  })

  it.each(folder.cases)('of $name reach both vendors as the golden shows', async (golden) => {
    // A list, as in the file.
    const cases = asArray(readGolden(golden.inputPath).documents[0]) as readonly Recorded[]
    const output: Record<string, string> = {}
    for (const one of cases) output[one.name] = `${(await outcomes(one)).join('\n')}\n`
    const { expected, actual } = compareGolden(golden, output)
    expect(actual).toBe(expected)
  })
})

describe('the answers', () => {
  const prompts = goldenFolder(ROOT).cases.map(({ name, inputPath }) => {
    const cases = asArray(readGolden(inputPath).documents[0]) as readonly Recorded[]
    const prompt = cases.find((one) => one.name === 'a prompt')
    if (prompt === undefined) throw new Error(`no prompt of ${name}`)
    return [name, prompt] as const
  })

  it.each(prompts)('of both vendors call a tool of %s', async (name, prompt) => {
    for (const model of Object.values(OTHERS)) {
      const { status, text } = await send(prompt, JSON.stringify({ ...prompt.body, model }))
      expect(status).toBe(200)
      expect(text).toContain(name === 'codex' ? '"type":"response.completed"' : '"type":"message_stop"')
      expect(text).toContain('crm__find')
    }
  })

  it('name an unknown model in the format of the client', async () => {
    const [, prompt] = prompts[0] ?? []
    if (prompt === undefined) throw new Error('no prompt')
    const { status, text } = await send(prompt, JSON.stringify({ ...prompt.body, model: 'unknown' }))
    expect([status, asObject(JSON.parse(text))]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ])
  })
})
