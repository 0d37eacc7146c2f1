// Calls of token endpoints over real sockets, with an endpoint that answers as the test requires.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { formCaller } from '../../backend/form-caller.ts'
import { testService } from '../../policy/external/service.testing.ts'
import { TokenError } from '../token.ts'
import { requestToken, type TokenQuestion } from './token-endpoint.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

interface Seen {
  url: string
  headers: IncomingHttpHeaders
  body: string
}

async function endpointWith(answer: (response: ServerResponse) => void, timeoutMs?: number) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      seen.push({ url: `${request.method} ${request.url}`, headers: request.headers, body })
      answer(response)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const service = testService((server.address() as AddressInfo).port, timeoutMs === undefined ? {} : { timeoutMs })
  closers.push(() => {
    service.close()
    server.closeAllConnections()
    server.close()
  })
  const client = {
    fingerprint: '',
    authenticate: (form: URLSearchParams) => form.set('client_id', 'gateway'),
  }
  const endpoint = { name: 'identity provider', caller: formCaller(service.caller), path: '/token?v=2', client }
  const ask = (question: Partial<TokenQuestion> = {}, exchange = exchangeOf()) =>
    requestToken(exchange, endpoint, {
      form: new URLSearchParams([['grant_type', 'g']]),
      signal: new AbortController().signal,
      tokenType: 'Bearer',
      ...question,
    })
  return { ask, seen }
}

const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
const good = { access_token: 'at-1', token_type: 'bearer', expires_in: 60 }
const failure = (reason: TokenError['reason'], message: string) => expect.objectContaining({ reason, message })

describe('requestToken', () => {
  it('posts the form with the client authentication and returns the token', async () => {
    const { ask, seen } = await endpointWith(json(good))
    expect(await ask()).toEqual({ token: 'at-1', expiresInS: 60 })
    expect(seen[0]).toMatchObject({
      url: 'POST /token?v=2',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=g&client_id=gateway',
    })
  })

  it('does not add the client authentication to the form of the caller', async () => {
    const { ask } = await endpointWith(json(good))
    const form = new URLSearchParams([['grant_type', 'g']])
    await ask({ form })
    expect(form.toString()).toBe('grant_type=g')
  })

  it.each([
    [400, 'SubjectRejected'],
    [404, 'SubjectRejected'],
    [429, 'SubjectRejected'],
    [499, 'SubjectRejected'],
    [401, 'Rejected'],
    [403, 'Rejected'],
    [302, 'Rejected'],
    [500, 'Rejected'],
    [502, 'Unavailable'],
    [504, 'Unavailable'],
    [503, 'Unavailable'],
  ] as const)('fails for status %i as %s and shows only the error code', async (status, reason) => {
    const body = { error: 'invalid_grant', error_description: 'planted-secret' }
    const { ask } = await endpointWith(json(body, status))
    const message = `identity provider answered with ${status}, error invalid_grant`
    await expect(ask()).rejects.toEqual(failure(reason, message))
  })

  it('does not show an invalid error code', async () => {
    const { ask } = await endpointWith(json({ error: 'planted secret' }, 400))
    await expect(ask()).rejects.toEqual(failure('SubjectRejected', 'identity provider answered with 400'))
  })

  const noToken = 'the response has no usable access_token'
  const noLifetime = 'expires_in of the response is not a positive number'
  it.each([
    ['an array', [], 'the response is not a JSON object'],
    ['no token', { ...good, access_token: undefined }, noToken],
    ['an empty token', { ...good, access_token: '' }, noToken],
    ['a token that splits a header', { ...good, access_token: 'a\r\nx: 1' }, noToken],
    ['a token that is not a string', { ...good, access_token: 1 }, noToken],
    ['another token type', { ...good, token_type: 'DPoP' }, 'token_type of the response is not Bearer'],
    ['no token type', { ...good, token_type: undefined }, 'token_type of the response is not Bearer'],
    ['a lifetime of 0', { ...good, expires_in: 0 }, noLifetime],
    ['a lifetime that is not a number', { ...good, expires_in: 'soon' }, noLifetime],
  ])('refuses a response with %s', async (_, body, problem) => {
    const { ask } = await endpointWith(json(body))
    await expect(ask()).rejects.toEqual(failure('Rejected', `identity provider: ${problem}`))
  })

  it('reads a lifetime that is written as text, and none', async () => {
    expect(await (await endpointWith(json({ ...good, expires_in: '90' }))).ask()).toMatchObject({ expiresInS: 90 })
    const { ask } = await endpointWith(json({ ...good, expires_in: undefined }))
    expect(await ask()).toEqual({ token: 'at-1', expiresInS: undefined })
  })

  it('compares the issued token type with what was asked for', async () => {
    const other = await endpointWith(json({ ...good, issued_token_type: 'urn:other' }))
    expect(await other.ask()).toMatchObject({ token: 'at-1' })
    const problem = 'identity provider: issued_token_type of the response is not urn:mine'
    await expect(other.ask({ requestedTokenType: 'urn:mine' })).rejects.toEqual(failure('Rejected', problem))
    const unnamed = await endpointWith(json(good))
    expect(await unnamed.ask({ requestedTokenType: 'urn:mine' })).toMatchObject({ token: 'at-1' })
    const strict = unnamed.ask({ requestedTokenType: 'urn:mine', mustNameIssuedType: true })
    await expect(strict).rejects.toEqual(failure('Rejected', problem))
  })

  it('requires the token type N_A, or none, of what is no access token', async () => {
    const named = await endpointWith(json({ ...good, token_type: 'N_A' }))
    expect(await named.ask({ tokenType: 'N_A' })).toMatchObject({ token: 'at-1' })
    const unnamed = await endpointWith(json({ ...good, token_type: undefined }))
    expect(await unnamed.ask({ tokenType: 'N_A' })).toMatchObject({ token: 'at-1' })
    const bearer = await endpointWith(json(good))
    await expect(bearer.ask({ tokenType: 'N_A' })).rejects.toMatchObject({ reason: 'Rejected' })
  })

  it('refuses text that is not JSON, and a response above 64 KiB', async () => {
    const text = await endpointWith((response) => response.end('planted-secret'))
    const problem = 'identity provider: the response is not a JSON object'
    await expect(text.ask()).rejects.toEqual(failure('Rejected', problem))
    const large = await endpointWith(json({ ...good, access_token: 'a'.repeat(65_536) }))
    const tooLarge = 'identity provider did not answer: the response is larger than 65536 bytes'
    await expect(large.ask()).rejects.toEqual(failure('Unavailable', tooLarge))
  })

  it('ends at the deadline, for the head and for the body', async () => {
    const silent = await endpointWith(() => undefined, 100)
    await expect(silent.ask()).rejects.toMatchObject({ reason: 'Unavailable' })
    const slow = await endpointWith((response) => response.writeHead(200).write('{'), 100)
    await expect(slow.ask()).rejects.toMatchObject({ reason: 'Unavailable' })
  })

  it('ends when its signal aborts, and not when the client leaves', async () => {
    const held: ServerResponse[] = []
    const { ask, seen } = await endpointWith((response) => held.push(response))
    const exchange = exchangeOf()
    const left = new AbortController()
    Object.assign(exchange.connection, { signal: left.signal })
    const whole = ask({}, exchange)
    const given = new AbortController()
    const ended = ask({ signal: given.signal }, exchange)
    await expect.poll(() => seen.length).toBe(2)
    left.abort()
    given.abort()
    await expect(ended).rejects.toMatchObject({ reason: 'Unavailable' })
    for (const response of held) json(good)(response)
    expect(await whole).toMatchObject({ token: 'at-1' })
  })

  it('fails without an endpoint', async () => {
    const client = { fingerprint: '', authenticate: () => undefined }
    const endpoint = { name: 'identity provider', caller: undefined, path: '/', client }
    const question = { form: new URLSearchParams(), signal: new AbortController().signal, tokenType: 'Bearer' } as const
    const problem = 'identity provider does not exist or has no endpoint'
    await expect(requestToken(exchangeOf(), endpoint, question)).rejects.toEqual(failure('Unavailable', problem))
  })
})
