// Faults of providers in each format: the client gets an error in its own format, never a part that looks complete, and
// the log has the reason. Where another provider can answer: failover.test.ts, stream-failover.test.ts.
// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Script, scriptedUpstream, type ScriptedUpstream, status } from '../backend/scripted-upstream.testing.ts'
import { logFile } from './log-file.testing.ts'
import { ALL_PAIRS, PROVIDERS, providersGateway, type TestProvider } from './providers.testing.ts'
import { clientRequest } from './translate/client-requests.testing.ts'
import { CLIENTS } from './translate/clients.testing.ts'
import { VENDORS, type VendorName } from './translate/vendors.testing.ts'

const SCENARIO = {
  text: 'hello there, and more of the same text',
  stop: 'stop',
  usage: { input: 3, cached: 0, output: 2 },
} as const
const JSON_TYPE = { 'content-type': 'application/json' }

let upstream: ScriptedUpstream
let gateway: TestProxy
const log = logFile()

beforeAll(async () => {
  upstream = await scriptedUpstream(status(500))
  gateway = await providersGateway(upstream.port, [{ prefix: '' }, { prefix: 'hasty-', requestMs: 300 }], log.settings)
})

afterAll(async () => {
  await gateway.stop()
  upstream.stop()
  log.remove()
})

let requests = 0

interface Reply {
  readonly response: Response
  /** Its last line. */
  readonly line: () => Promise<string>
}

async function ask(route: string, client: VendorName, isStreaming: boolean): Promise<Reply> {
  const { path, body } = clientRequest(client, {}, isStreaming)
  const id = `/${route}/${++requests}/`
  const headers = { ...JSON_TYPE }
  const response = await fetch(gateway.url + id.slice(0, -1) + path, { method: 'POST', body, headers })
  return { response, line: () => log.line(id) }
}

/** What follows the first content. */
type Rest = (response: Parameters<Script>[0], one: TestProvider) => void

const streamThen =
  (one: TestProvider, rest: Rest): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': one.streamType })
    // Up to a frame with a part of the text, in each format.
    response.write(Buffer.concat(one.frames(SCENARIO).slice(0, -4)), () => rest(response, one))
  }

const WHOLE_FAULTS: Readonly<Record<string, (one: TestProvider) => Script>> = {
  'truncated JSON': ({ whole }) => status(200, JSON_TYPE, whole(SCENARIO).slice(0, -7)),
  'a page of HTML': () => status(200, { 'content-type': 'text/html' }, '<html>Welcome</html>'),
  'an empty body': () => status(200, JSON_TYPE, ''),
  'a list': () => status(200, JSON_TYPE, '[1]'),
  'a body that breaks':
    ({ whole }) =>
    (response) => {
      const body = whole(SCENARIO)
      response.writeHead(200, { ...JSON_TYPE, 'content-length': body.length })
      response.write(body.slice(0, 20), () => response.destroy())
    },
}

describe.each(Object.entries(WHOLE_FAULTS))('an answer that is %s', (_, script) => {
  it.each(ALL_PAIRS)('of %s is a 502 for a client of %s', async (name, client) => {
    upstream.script = script(PROVIDERS[name])
    const { response, line } = await ask(name, client, false)
    expect(response.status).toBe(502)
    await expect(CLIENTS[client].read(response, false)).rejects.toThrow('failed to process LLM response')
    expect(await line()).toContain('reason=UpstreamFailure')
  })
})

const STREAM_FAULTS: Readonly<Record<string, readonly [rest: Rest, message: RegExp]>> = {
  'reports an error': [(response, { error }) => response.end(error), /too busy/],
  breaks: [(response) => response.destroy(), /ended early/],
  'has an event that is not valid': [
    (response, { streamType }) =>
      response.end(streamType === 'text/event-stream' ? 'data: {"a\n\n' : Buffer.alloc(32, 1)),
    /valid JSON|ended early/,
  ],
}

describe.each(Object.entries(STREAM_FAULTS))('a stream that %s behind its first content', (fault, [rest, message]) => {
  it.each(ALL_PAIRS)('of %s ends with an error for a client of %s', async (name, client) => {
    const one = PROVIDERS[name]
    upstream.script = streamThen(one, rest)
    const { response, line } = await ask(name, client, true)
    expect(response.status).toBe(200)
    const isSame = PROVIDERS[name].client === client
    // A stream in the format of the client arrives unchanged, also an event of it that is not valid.
    const expected = isSame && fault.startsWith('has an event') ? /./ : message
    await expect(CLIENTS[client].read(response, true)).rejects.toThrow(expected)
    expect(await line()).toContain('error=')
  })
})

describe('a stream that reports an error and does not end', () => {
  it.each(ALL_PAIRS.filter(([name, client]) => PROVIDERS[name].client !== client))(
    'of %s ends for a client of %s, and at the provider',
    async (name, client) => {
      const one = PROVIDERS[name]
      const closed = new Promise<void>((resolve) => {
        upstream.script = streamThen(one, (response, { error }) => {
          response.once('close', resolve)
          response.write(error)
        })
      })
      const { response } = await ask(name, client, true)
      expect(await response.text()).toContain('too busy')
      await closed
    },
  )
})

describe('a stream that stalls', () => {
  it.each(ALL_PAIRS)('of %s ends at the deadline of the request for a client of %s', async (name, client) => {
    upstream.script = streamThen(PROVIDERS[name], () => undefined)
    const { response, line } = await ask(`hasty-${name}`, client, true)
    await expect(CLIENTS[client].read(response, true)).rejects.toThrow('terminated')
    expect(await line()).toContain('error="request timeout: the response was cut short" reason=Timeout')
  })
})

describe('a storm of 429', () => {
  it.each(ALL_PAIRS)('of %s reaches a client of %s as 429 with the time to wait', async (name, client) => {
    const body =
      name === 'converse'
        ? { message: 'slow down' }
        : VENDORS[PROVIDERS[name].client ?? 'Completions'].error('slow down')
    upstream.script = status(429, { ...JSON_TYPE, 'retry-after': '7' }, JSON.stringify(body))
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(name, client, true)))
    for (const { response } of replies) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
      await expect(CLIENTS[client].read(response, true)).rejects.toThrow('slow down')
    }
  })
})

it('the streams here have content before the fault', () => {
  for (const { frames } of Object.values(PROVIDERS)) {
    expect(Buffer.concat(frames(SCENARIO).slice(0, -4)).toString('latin1')).toContain('hello')
  }
})
