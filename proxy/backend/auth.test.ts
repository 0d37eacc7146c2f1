import { describe, expect, it } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { BackendAuth } from '#api/ir/types.gen.ts'
import { WorkerTokenStore } from '../credentials/token-store.ts'
import { Exchange, type Connection } from '../exchange/exchange.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'
import { compileBackendAuth } from './auth.ts'
import type { AuthEnvironment } from './auth/kind.ts'

function exchangeWith(headers: [string, string][], query = ''): Exchange {
  const connection: Connection = {
    id: 1,
    sourceAddress: '127.0.0.1',
    sourcePort: 1,
    localAddress: '127.0.0.1',
    localPort: 2,
    isTls: false,
    sni: undefined,
    signal: new AbortController().signal,
    close() {},
    cut: () => true,
  }
  const request = new HttpRequest({
    method: 'GET',
    path: '/',
    query,
    host: 'h',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of(headers),
  })
  return new Exchange(connection, request, 0)
}

const secrets = new Map([
  ['ns/s/key', 'sk-1'],
  ['ns/s/empty', ''],
  ['ns/s/split', 'a\r\nx: 1'],
  ['ns/s/newline', 'sk-2\n'],
])
const environment: AuthEnvironment = {
  secret: ({ secret }) => secrets.get(secret),
  tokens: new WorkerTokenStore(),
  service: () => undefined,
  origin: () => {
    throw new Error('no kind here calls a server')
  },
  expression: () => {
    throw new Error('no kind here has an expression')
  },
}
const run = (auth: BackendAuth, exchange: Exchange) => compileBackendAuth(auth, environment).request?.(exchange)

describe('compileBackendAuth', () => {
  it('replaces the client credential by a bearer key', () => {
    const exchange = exchangeWith([['authorization', 'Bearer client']])
    expect(run({ key: { secret: 'ns/s/key' } }, exchange)).toBeUndefined()
    expect(exchange.request.headers.getAll('authorization')).toEqual(['Bearer sk-1'])
  })

  it('strips the newline that files leave, and refuses a value that would split the header', () => {
    const exchange = exchangeWith([])
    expect(run({ key: { secret: 'ns/s/newline' } }, exchange)).toBeUndefined()
    expect(exchange.request.headers.get('authorization')).toBe('Bearer sk-2')
    expect(run({ key: { secret: 'ns/s/split' } }, exchange)).toMatchObject({ status: 500 })
  })

  it('writes header, query and cookie locations', async () => {
    const exchange = exchangeWith([['cookie', 'a=1; t=old']], 'x=1&k=old')
    const key = { secret: 'ns/s/key' }
    await run(
      {
        key,
        location: { header: { name: 'X-Api-Key' } },
        credentials: [
          { key, location: { queryParameter: { name: 'k' } } },
          { key, location: { cookie: { name: 't' } } },
        ],
      },
      exchange,
    )
    expect(exchange.request.headers.get('x-api-key')).toBe('sk-1')
    expect(exchange.request.query).toBe('x=1&k=sk-1')
    expect(exchange.request.headers.get('cookie')).toBe('a=1; t=sk-1')
  })

  it.each(['ns/s/none', 'ns/s/empty'])(
    'fails closed when the secret %s gives nothing, without naming a value',
    (secret) => {
      const exchange = exchangeWith([])
      const verdict = run({ key: { secret } }, exchange)
      expect(verdict).toMatchObject({
        status: 500,
        body: 'backend authentication failed: the credential is missing or unusable',
      })
      expect(exchange.errorDetail).toBe(`secret ${secret} is missing or unusable`)
    },
  )
})

describe('requests of all kinds', () => {
  it('reach the extra credentials after the main one', () => {
    const exchange = exchangeWith([])
    const key = { secret: 'ns/s/key' }
    const credentials = [{ key: { secret: 'ns/s/newline' }, location: { header: { name: 'authorization' } } }]
    expect(run({ key, credentials }, exchange)).toBeUndefined()
    expect(exchange.request.headers.get('authorization')).toBe('sk-2')
  })
})

describe('passthrough', () => {
  const token = new SecretString('header.claims.signature')
  const withClaims = (jwt: unknown): Exchange => {
    const exchange = exchangeWith([['authorization', 'Basic sent-by-the-client']])
    exchange.attributes = { jwt }
    return exchange
  }

  it('sends the verified token on, as a bearer token when no location is named', () => {
    const exchange = withClaims({ sub: 'me', rawToken: token })
    expect(run({ passthrough: true }, exchange)).toBeUndefined()
    expect(exchange.request.headers.getAll('authorization')).toEqual(['Bearer header.claims.signature'])
  })

  it('writes it where it is asked to, and again on each attempt', async () => {
    const exchange = withClaims({ rawToken: token })
    const auth = { passthrough: true, location: { queryParameter: { name: 't' } } }
    for (let i = 0; i < 2; i++) await run(auth, exchange)
    expect(exchange.request.query).toBe('t=header.claims.signature')
    expect(exchange.request.headers.get('authorization')).toBe('Basic sent-by-the-client')
  })

  it.each([undefined, {}, { rawToken: 'a claim of that name' }, 'text'])('does nothing with %j for claims', (jwt) => {
    const exchange = withClaims(jwt)
    expect(run({ passthrough: true }, exchange)).toBeUndefined()
    expect(exchange.request.headers.getAll('authorization')).toEqual(['Basic sent-by-the-client'])
  })
})
