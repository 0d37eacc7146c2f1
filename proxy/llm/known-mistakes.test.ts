// Mistakes of gateways that users reported, as far as no other test of a format has them: each reads like the report.
// @module-tag full
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { FORMATS } from './formats/table.ts'
import { logFile } from './log-file.testing.ts'
import { completionsToMessages } from './translate/translate.testing.ts'
import { emptyFacts } from './usage.ts'
import { VENDORS } from './translate/vendors.testing.ts'

/** Thinks within a budget of tokens. */
const BUDGETED = 'claude-3-7-sonnet-latest'
const messages = [{ role: 'user', content: 'hi' }]
const SCENARIO = { text: 'hello', stop: 'stop', usage: { input: 3, cached: 0, output: 2 } } as const

describe('chat completions for Anthropic', () => {
  const sent = (fields: object) => completionsToMessages({ model: 'claude-sonnet-4-0', messages, ...fields })

  it('a high effort without max_tokens makes the model think', () => {
    const { thinking, max_tokens: limit } = sent({ model: BUDGETED, reasoning_effort: 'high' })
    expect(thinking).toEqual({ type: 'enabled', budget_tokens: 4096 })
    expect(limit).toBeGreaterThan(4096)
  })

  it('a temperature over the range of the vendor is its maximum', () => {
    expect(sent({ model: BUDGETED, temperature: 1.7 })['temperature']).toBe(1)
    expect(sent({ model: BUDGETED, temperature: 0.3 })['temperature']).toBe(0.3)
  })

  it('a stop sequence of white space, which the vendor rejects, is refused by its name', () => {
    expect(() => sent({ stop: '\n' })).toThrow('stop with white space alone is not supported by this provider')
    expect(sent({ stop: ['END'] })['stop_sequences']).toEqual(['END'])
  })
})

describe('usage', () => {
  it.each([
    [{ tokens: { input_tokens: 7, output_tokens: 1 }, billed_units: { search_units: 2 } }, 7, 8],
    [{ billed_units: { input_tokens: 5, search_units: 1 } }, 5, 5],
    [{ billed_units: { search_units: 1 } }, undefined, undefined],
  ])('of a ranking is in its meta data: %j', (meta, inputTokens, totalTokens) => {
    const facts = emptyFacts('cohere')
    FORMATS.Rerank.observe(facts, { results: [], meta })
    expect(facts).toMatchObject({ inputTokens, totalTokens })
  })
})

describe('a stream', () => {
  let upstream: Server
  let gateway: TestProxy
  let answer: (response: ServerResponse) => void
  const log = logFile()

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      request.resume()
      request.on('end', () => answer(response))
    })
    const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
    const backend = (provider: object) => ({
      ai: { groups: [{ providers: [{ name: 'p', provider, hostOverride, pathPrefix: '/v1' }] }] },
      inlinePolicies: { ai: { routes: { '/v1/messages': 'Messages' } as const } },
    })
    const inline = { timeouts: { requestMs: 1500 } }
    gateway = await testProxy({
      routes: [
        { name: 'openai', prefix: '/openai', backend: backend({ openai: {} }), inline },
        { name: 'claude', prefix: '/claude', backend: backend({ anthropic: {} }), inline },
      ],
      settings: log.settings,
    })
  })

  afterAll(async () => {
    await gateway.stop()
    closeServer(upstream)
    log.remove()
  })

  const ask = async (path: string): Promise<string> => {
    const body = JSON.stringify({ model: 'm', messages, stream: true })
    const reply = await fetch(gateway.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    return reply.text().catch((error: unknown) => `cut: ${String(error)}`)
  }

  const STREAM = { 'content-type': 'TEXT/EVENT-STREAM; Charset=UTF-8' }

  it('with a byte order mark and a media type in capitals is read', async () => {
    const text = VENDORS.Messages.stream(SCENARIO).join('')
    answer = (response) => response.writeHead(200, STREAM).end(`\u{FEFF}${text}`)
    expect(await ask('/claude/v1/chat/completions?bom')).toContain('[DONE]')
    expect(await log.line('chat/completions?bom')).toContain('gen_ai.usage.input_tokens=3')
  })

  it.each(['/openai/v1/chat/completions', '/claude/v1/chat/completions', '/claude/v1/messages'])(
    'that stalls ends at the deadline of the request, and does not look complete: %s',
    async (path) => {
      const vendor = path.startsWith('/openai') ? VENDORS.Completions : VENDORS.Messages
      const closed = Promise.withResolvers<void>()
      answer = (response) => {
        response.writeHead(200, STREAM)
        response.write(vendor.stream(SCENARIO).slice(0, 3).join(''))
        response.on('close', () => closed.resolve())
      }
      const text = await ask(`${path}?stalled`)
      expect(text).toMatch(/^cut: |"error"/)
      expect(text).not.toContain('[DONE]')
      // The connection to the provider is closed as well.
      await closed.promise
      expect(await log.line(`${path}?stalled`)).toContain('reason=Timeout')
    },
  )

  it('that the client cancels is not reported as a failure of the provider', async () => {
    const closed = Promise.withResolvers<void>()
    answer = (response) => {
      response.writeHead(200, STREAM)
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
      response.on('close', () => closed.resolve())
    }
    const path = '/openai/v1/chat/completions?left'
    const gone = new AbortController()
    const body = JSON.stringify({ model: 'm', messages, stream: true })
    const reply = await fetch(gateway.url + path, { method: 'POST', body, signal: gone.signal })
    await reply.body?.getReader().read()
    gone.abort()
    await closed.promise
    const line = await log.line(path)
    expect(line).toContain('error="the connection closed before the response was complete"')
    expect(line).not.toContain('reason=UpstreamFailure')
  })

  it('whose event is cut in the middle has the error in an event of its own', async () => {
    answer = (response) => {
      response.writeHead(200, STREAM)
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choi', () => response.destroy())
    }
    const events = (await ask('/openai/v1/chat/completions?cut')).split('\n\n')
    expect(events.at(-2)).toMatch(/^data: \{"error":/)
  })
})
