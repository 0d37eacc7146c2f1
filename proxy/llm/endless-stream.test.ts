// Compressed streams of a provider that never end, forwarded to a client that reads them: what reads along keeps a
// bounded part of them, whatever it looks for.
// @module-tag full
import { request } from 'node:http'
import { constants, deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Policy, RouteType } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { type ScriptedUpstream, scriptedUpstream, status } from '../backend/scripted-upstream.testing.ts'
import { logFile } from './log-file.testing.ts'

const MIB = 2 ** 20
/** The memory after the first bytes is compared with that after all. */
const [WARM_BYTES, ALL_BYTES] = [48 * MIB, 192 * MIB]
/** Without a limit, the memory grows by all bytes between these two. */
const GROWTH_MAX = 100 * MIB

const token = 'data: {"model":"m","choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'
const call = (index: number): string =>
  `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":${index},"id":"c","function":{"name":"f"}}]}}]}\n\n`

/** Repeated for ever, behind the first token of an answer. */
const SHAPES: Readonly<Record<string, string>> = {
  'an event without an end': 'data: '.padEnd(MIB, 'x'),
  'lines of one event': 'data:\n'.repeat(100_000),
  'names of events': `event: ${'x'.repeat(1000)}\n`.repeat(1000),
  comments: ': ping\n\n'.repeat(100_000),
  tokens: token.repeat(10_000),
  usage: 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n'.repeat(10_000),
  'tool calls': Array.from({ length: 10_000 }, (_, index) => call(index)).join(''),
}

/** What reads the stream along. */
const READERS: Readonly<Record<string, { readonly type: RouteType; readonly isRead?: true }>> = {
  usage: { type: 'Completions' },
  'expressions with the texts of the answer': { type: 'Completions', isRead: true },
  Detect: { type: 'Detect' },
}

let upstream: ScriptedUpstream
let gateway: TestProxy
const log = logFile()

beforeAll(async () => {
  upstream = await scriptedUpstream(status(500))
  const hostOverride = { host: '127.0.0.1', port: upstream.port }
  const ai = { groups: [{ providers: [{ name: 'p', provider: { openai: {} }, hostOverride }] }] }
  const routes = Object.values(READERS).map(({ type, isRead }): TestRoute => ({
    name: `${type}-${isRead === true}`.toLowerCase(),
    prefix: `/${type}-${isRead === true}`,
    backend: { ai, inlinePolicies: { ai: { routes: { '*': type } } } },
  }))
  const texts: Policy = {
    key: 'ns/texts',
    name: { kind: 'GwPolicy', namespace: 'ns', name: 'texts' },
    target: { route: { kind: 'HTTPRoute', namespace: 'ns', name: 'completions-true' } },
    policy: {
      traffic: {
        transformation: { response: { set: [{ name: 'x-texts', expression: 'string(size(llm.completion))' }] } },
      },
    },
  }
  gateway = await testProxy({ routes, policies: [texts], settings: log.settings })
})

afterAll(async () => {
  await gateway.stop()
  upstream.stop()
  log.remove()
})

/** A gzip stream: blocks that begin without a dictionary may follow each other for ever. */
function bombOf(text: string): { readonly head: Buffer; readonly block: Buffer } {
  const blockOf = (part: string): Buffer => deflateRawSync(Buffer.from(part), { finishFlush: constants.Z_FULL_FLUSH })
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
  return { head: Buffer.concat([header, blockOf(token)]), block: blockOf(text) }
}

function endless(text: string): ScriptedUpstream['script'] {
  const { head, block } = bombOf(text)
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
    response.write(head)
    const more = (): void => {
      while (!response.destroyed && response.write(block));
    }
    response.on('drain', more)
    more()
  }
}

/** The growth of memory between the first and the last bytes. */
function readAlong(path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const asked = request(`${gateway.url}${path}`, { method: 'POST' }, (reply) => {
    let bytes = 0
    let before: number | undefined
    reply.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes >= WARM_BYTES) before ??= process.memoryUsage.rss()
      if (bytes < ALL_BYTES || before === undefined) return
      resolve(process.memoryUsage.rss() - before)
      reply.destroy()
    })
    reply.on('end', () => reject(new Error(`the stream ended after ${bytes} bytes`)))
  })
  asked.on('error', reject)
  asked.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }))
  return promise
}

const CASES = Object.entries(READERS).flatMap(([reader, { type, isRead }]) =>
  Object.keys(SHAPES).map((shape) => [reader, shape, `/${type}-${isRead === true}`] as const),
)

it.each(CASES)(
  '%s: %s',
  async (_reader, shape, path) => {
    upstream.script = endless(SHAPES[shape] ?? '')
    expect(await readAlong(path)).toBeLessThan(GROWTH_MAX)
  },
  60_000,
)
