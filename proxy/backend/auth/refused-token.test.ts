// Fetched credentials on a real proxy: one more try with another one if a backend refuses the first, and what dump,
// metrics, trace and log show.
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type StsServer, stsServer } from '../../credentials/cloud-a/servers.testing.ts'
import {
  applicationServer,
  type Authority,
  identityProvider,
  idToken,
} from '../../credentials/oauth/authorities.testing.ts'
import { watchTrace } from '../../trace/watcher.testing.ts'
import { credentialGateway, ROLE } from './credential-gateway.testing.ts'
import { type ScriptedUpstream, scriptedUpstream, status } from '../scripted-upstream.testing.ts'

const LOG = join(tmpdir(), `gw-credentials-${process.pid}.log`)
const logFd = openSync(LOG, 'a')

let provider: Authority
let application: Authority
let sts: StsServer
let upstream: ScriptedUpstream
let gateway: TestProxy
let subject: string
/** Name of the client of a test: tokens and sessions of tests differ. */
let user: string
let users = 0
/** The first so many different credentials of a client are refused. */
let refused: number
let refusal = status(401)
const credentials: string[] = []

beforeAll(async () => {
  provider = await identityProvider()
  application = await applicationServer()
  sts = await stsServer(new Map([['AKIAENV', 'env-secret']]))
  for (const name of Object.keys(process.env).filter((one) => one.startsWith('AWS_'))) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAENV')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'env-secret')
  upstream = await scriptedUpstream((response, request, index) => {
    const credential = credentialOf(request.headers)
    if (!credentials.includes(credential)) credentials.push(credential)
    const isRefused = credentials.indexOf(credential) < refused
    const id = /"id":(\d+)/.exec(request.body)?.[1] ?? '1'
    const json = { jsonrpc: '2.0', id: Number(id), result: {}, choices: [] }
    if (isRefused) refusal(response, request, index)
    else status(200, { 'content-type': 'application/json' }, JSON.stringify(json))(response, request, index)
  })
  gateway = await gatewayWith(1)
})

function gatewayWith(workers: number): Promise<TestProxy> {
  const ports = { provider: provider.port, application: application.port, upstream: upstream.port }
  return credentialGateway(ports, { workers, logFd })
}

afterAll(async () => {
  vi.unstubAllEnvs()
  await gateway.stop()
  upstream.stop()
  provider.close()
  application.close()
  await sts.close()
  closeSync(logFd)
  rmSync(LOG)
})

beforeEach(async () => {
  refused = 1
  refusal = status(401)
  user = `user-${users++}`
  subject = await idToken(user)
  for (const list of [credentials, upstream.seen, application.forms, sts.calls]) list.length = 0
})

/** The token, or the id of the access key. */
function credentialOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /Credential=(\w+)/.exec(authorization)?.[1] ?? authorization
}

function call(path: string, body?: unknown): Promise<Response> {
  const headers = {
    authorization: `Bearer ${subject}`,
    'x-user': user,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  if (body === undefined) return fetch(`${gateway.url}${path}`, { headers })
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** By the order of their first use. */
const sent = (): number[] => upstream.seen.map(({ headers }) => credentials.indexOf(credentialOf(headers)))

describe('a request whose token the backend refuses', () => {
  it.each([
    ['without a body', undefined],
    ['with a body', 'x'.repeat(65_536)],
  ])('%s is sent again once with another token, as it was before the policies of the backend', async (_, body) => {
    refused = 0
    expect((await call('/http/1', body)).status).toBe(200)
    refused = 1
    expect((await call('/http/2?q=1', body)).status).toBe(200)
    expect((await call('/http/3', body)).status).toBe(200)
    expect(sent()).toEqual([0, 0, 1, 1])
    for (const { url, headers, body: received } of upstream.seen.slice(1, 3)) {
      expect([url, headers['x-backend'], received]).toEqual(['/deep/2?q=1', 'b', body ?? ''])
    }
    expect(application.forms).toHaveLength(2)
  })

  it('gets the refusal if the backend refuses the other token too, and the endpoint is asked twice in 10 s', async () => {
    refused = Infinity
    for (let i = 0; i < 5; i++) {
      const response = await call('/http')
      expect([response.status, await response.text()]).toEqual([401, 'status 401'])
    }
    expect(upstream.seen).toHaveLength(6)
    expect(application.forms).toHaveLength(2)
  })

  it('is not sent again with a body of more than 64 KiB; the next request has another token', async () => {
    expect((await call('/http', 'x'.repeat(65_537))).status).toBe(401)
    expect((await call('/http')).status).toBe(200)
    expect(sent()).toEqual([0, 1])
  })

  it('is sent again to a model provider', async () => {
    const chat = { model: 'm', messages: [{ role: 'user', content: 'y'.repeat(100_000) }] }
    expect((await call('/v1/chat/completions', chat)).status).toBe(200)
    expect(sent()).toEqual([0, 1])
    expect(upstream.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([chat, chat])
    refused = 2
    expect((await call('/v1/files')).status).toBe(401)
  })

  it('is sent again to a model provider that gets it unchanged', async () => {
    const responses = [await call('/v1/files'), await call('/v1/files', 'a file')]
    expect(responses.map((response) => response.status)).toEqual([200, 200])
    expect(sent()).toEqual([0, 1, 1])
    expect(upstream.seen.at(-1)?.body).toBe('a file')
  })

  it('gets 413 from a model provider if its streamed body is too large to be kept', async () => {
    const body = ReadableStream.from(Array.from({ length: 40 }, () => Buffer.alloc(65_536, 'z')))
    const headers = { authorization: `Bearer ${subject}`, 'content-type': 'application/json' }
    const url = `${gateway.url}/v1/chat/completions`
    expect((await fetch(url, { method: 'POST', headers, body, duplex: 'half' })).status).toBe(413)
    expect(upstream.seen).toHaveLength(0)
  })

  it('is sent again to an MCP server', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 7,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} },
    }
    expect((await call('/mcp', initialize)).status).toBe(200)
    expect(sent()).toEqual([0, 1])
  })
})

describe('a request whose signature the backend refuses', () => {
  const expired = { 'x-amzn-errortype': 'ExpiredTokenException:http://internal.amazon.com/' }

  it.each([
    [401, {}],
    [403, expired],
    [400, { 'x-amzn-errortype': 'com.amazon#UnrecognizedClientException' }],
  ])('with status %i is signed again with the keys of another session', async (code, headers) => {
    refusal = status(code, headers)
    expect((await call('/aws', 'x'.repeat(100_000))).status).toBe(200)
    expect(sent()).toEqual([0, 1])
    expect(new Set(upstream.seen.map(({ body }) => body.length))).toEqual(new Set([100_000]))
    expect(sts.calls).toHaveLength(2)
  })

  it('for another reason is not sent again', async () => {
    refusal = status(403, { 'x-amzn-errortype': 'AccessDeniedException' })
    refused = Infinity
    expect((await call('/aws')).status).toBe(403)
    expect(upstream.seen).toHaveLength(1)
  })
})

it('is replaced in all workers after a refusal in one of them', { tags: ['full'] }, async () => {
  const two = await gatewayWith(2)
  try {
    const headers = { authorization: `Bearer ${subject}`, connection: 'close' }
    // Each on a connection of its own, which the system gives to one of the workers.
    const many = async (): Promise<Set<number>> => {
      const from = upstream.seen.length
      for (let i = 0; i < 30; i++) expect((await fetch(`${two.url}/http`, { headers })).status).toBe(200)
      return new Set(sent().slice(from))
    }
    refused = 0
    expect(await many()).toEqual(new Set([0]))
    refused = 1
    expect((await fetch(`${two.url}/http`, { headers })).status).toBe(200)
    expect(sent().slice(-2)).toEqual([0, 1])
    expect(await many()).toEqual(new Set([1]))
    expect(application.forms).toHaveLength(2)
  } finally {
    await two.stop()
  }
})

describe('a fetched credential', () => {
  const admin = async (path: string, port = gateway.proxy.ports.admin): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  const metrics = (): Promise<string> => admin('/metrics', gateway.proxy.ports.stats)
  const traced = async (path: string): Promise<string[]> => {
    const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
    expect((await call(path)).status).toBe(200)
    const events = (await watcher.ended).map(({ message }) => message)
    return events.flatMap(({ kind, details }) => (kind === 'credential' ? [details ?? ''] : []))
  }

  it('is in the dump of the configuration, with its end and the last refusal', async () => {
    expect((await call('/aws')).status).toBe(200)
    const { credentials: shown } = JSON.parse(await admin('/config_dump'))
    const role = shown.find(({ owner }: { owner: string }) => owner === ROLE)
    expect(role).toMatchObject({ kind: 'cloudA', usedBy: ['ns/aws'], failuresInRow: 0 })
    expect(role.tokens).toBeGreaterThan(0)
    expect(Date.parse(role.firstExpiry) - Date.now()).toBeGreaterThan(3_000_000)
    expect(Date.now() - Date.parse(role.lastFetch)).toBeLessThan(60_000)
    expect(Date.now() - Date.parse(role.lastRefusal)).toBeLessThan(60_000)
  })

  it('is counted', async () => {
    const count = async (series: string): Promise<number> => {
      const line = (await metrics()).split('\n').find((one) => one.startsWith(`${series} `))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const [fetches, refusals] = [
      'gw_credentials_fetches_total{kind="cloudA",result="fetched"}',
      'gw_credentials_refused_total{kind="cloudA"}',
    ]
    const before = [await count(fetches), await count(refusals)]
    expect((await call('/aws')).status).toBe(200)
    await expect
      .poll(async () => [await count(fetches), await count(refusals)])
      .toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1])
    expect(await count('gw_credentials_fetch_duration_seconds_count{kind="cloudA",result="fetched"}')).toBeGreaterThan(
      1,
    )
    expect(await count('gw_credentials_tokens{kind="crossAppAccess"}')).toBeGreaterThan(0)
  })

  it('is in the trace: fetched, refused, kept', async () => {
    expect(await traced('/http')).toEqual([
      expect.stringMatching(/^crossAppAccess https:\/\/app\.test \w+: fetched in \d+ ms, ends in \d+ s$/),
      expect.stringMatching(/: refused by the backend with 401; not used again$/),
      expect.stringMatching(/: fetched in \d+ ms, ends in \d+ s$/),
    ])
    expect(await traced('/http')).toEqual([expect.stringMatching(/: kept, ends in \d+ s$/)])
  })

  it('that cannot be fetched is in log, dump and trace with the cause', async () => {
    application.override = (response) => {
      response.writeHead(503).end('planted-answer')
    }
    try {
      const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
      expect((await call('/http')).status).toBe(500)
      const cause = 'resource authorization server answered with 503'
      expect(JSON.stringify(await watcher.ended)).toMatch(new RegExp(`none after \\d+ ms: ${cause}`))
      await expect.poll(() => readFileSync(LOG, 'utf8')).toContain('failed to fetch a credential')
      const line = readFileSync(LOG, 'utf8')
        .split('\n')
        .find((one) => one.includes('failed to fetch'))
      expect(JSON.parse(line ?? '')).toMatchObject({
        level: 'warn',
        kind: 'crossAppAccess',
        reason: 'Unavailable',
        error: cause,
      })
      const { credentials: shown } = JSON.parse(await admin('/config_dump'))
      expect(shown).toContainEqual(
        expect.objectContaining({ failuresInRow: 1, lastError: expect.objectContaining({ message: cause }) }),
      )
    } finally {
      application.override = undefined
    }
  })

  it(
    'of an endpoint that is down is asked for by three requests, then by one at a time until it is back',
    { tags: ['full'] },
    async () => {
      refused = 0
      // The circuit is closed.
      expect((await call('/http')).status).toBe(200)
      application.override = (response) => response.destroy()
      const asked = async (count: number): Promise<{ statuses: number[]; asked: number }> => {
        const before = provider.forms.length
        const statuses: number[] = []
        for (let i = 0; i < count; i++) {
          subject = await idToken(`down-${i}-${before}`)
          statuses.push((await call('/http')).status)
        }
        return { statuses: [...new Set(statuses)], asked: provider.forms.length - before }
      }
      try {
        expect(await asked(10)).toEqual({ statuses: [500], asked: 3 })
      } finally {
        application.override = undefined
      }
      await expect.poll(async () => (await asked(1)).statuses, { timeout: 10_000 }).toEqual([200])
      expect(await asked(5)).toEqual({ statuses: [200], asked: 5 })
    },
  )

  it('and its secrets are in no output', async () => {
    const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
    await call('/http')
    await call('/aws')
    const outputs = [
      JSON.stringify(await watcher.ended),
      await admin('/config_dump'),
      await metrics(),
      readFileSync(LOG, 'utf8'),
    ]
    const planted = [
      'idp-secret',
      'app-secret',
      'env-secret',
      'sts-secret',
      'sts-token',
      'planted-',
      'at.user',
      subject,
    ]
    for (const secret of planted) expect(outputs.map((text) => text.includes(secret))).toEqual(outputs.map(() => false))
  })
})
