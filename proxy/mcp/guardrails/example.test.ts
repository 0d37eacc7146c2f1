// The service in docs/mcp/guardrails.md, as a process of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exchangeOf, expression } from '../../policy/exchange.testing.ts'
import { testService, type TestService } from '../../policy/external/service.testing.ts'
import { callOf } from '../context.ts'
import { mcpGuardrails } from './guardrails.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const PROTO = join(ROOT, 'api', 'mcp', 'protos', 'gw', 'dev', 'ext_mcp', 'ext_mcp.proto')

let folder: string
let service: ChildProcess
let client: TestService

beforeAll(async () => {
  const page = readFileSync(join(ROOT, 'docs', 'mcp', 'guardrails.md'), 'utf8')
  // Below node_modules, where the packages are found.
  folder = mkdtempSync(join(ROOT, 'node_modules', '.guard-'))
  writeFileSync(join(folder, 'guard.mjs'), /```js\n(.*?)```/s.exec(page)?.[1] ?? '')
  service = spawn(process.execPath, ['guard.mjs'], {
    cwd: folder,
    env: { PROTO, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (service.stdout === null) throw new Error('no output')
  for await (const line of createInterface(service.stdout)) {
    client = testService(Number(/port (\d+)$/.exec(line)?.[1]), { subtype: 'Guardrail' })
    break
  }
})

afterAll(() => {
  client.close()
  service.kill()
  rmSync(folder, { recursive: true })
})

it('the service of the documentation rejects calls and hides mail addresses', async () => {
  const guard = mcpGuardrails(
    {
      processors: [
        { service: { backend: 'guard' }, failureMode: 'FailClosed', methods: [{ method: '*', phase: 'Full' }] },
      ],
    },
    { expression, service: () => client.caller },
  )
  // Guardrails read no settings of the endpoint.
  const call = callOf({ exchange: exchangeOf(), endpoint: undefined as never, era: 'Modern', members: [] })
  const request = (word: string) =>
    ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { word } } }) as const
  expect(await guard.checkRequest(call, request('hello'), ['demo'])).toEqual({ value: undefined })
  expect(await guard.checkRequest(call, request('secret'), ['demo'])).toEqual({
    error: { code: -32_001, message: 'no secrets, please' },
  })
  const result = { content: [{ type: 'text', text: 'write to ann@example.com' }] }
  const verdict = await guard.checkResponse(call, { request: request('hello'), result, targets: ['demo'] })
  expect(verdict).toEqual({ value: { content: [{ type: 'text', text: 'write to [mail]' }] } })
})
