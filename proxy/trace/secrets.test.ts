// Credentials never come out of a trace, wherever they stand: planted in every place a request and a configuration
// have.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { outline, watchTrace } from './watcher.testing.ts'

const SECRET = {
  bearer: 'planted-bearer-"quoted"',
  proxy: 'cGxhbnRlZDpwbGFudGVkLXBhc3N3b3Jk',
  proxyPassword: 'planted-password',
  cookie: 'planted-cookie',
  setCookie: 'planted-set-cookie',
  clientKey: 'planted-client-key',
  query: 'planted query value',
  configuredQuery: 'planted-configured-query',
  backendKey: 'planted-backend-key',
  extraKey: 'planted-extra-key',
  signed: 'planted-signed-part',
} as const

let upstream: Server
let gateway: TestProxy

beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    response.setHeader('set-cookie', `sid=${SECRET.setCookie}; Path=/`)
    // A backend that shows what it got, as many do when they fail.
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
  const port = await listening(upstream)
  gateway = await testProxy({
    secrets: { 'ns/keys/k': SECRET.backendKey, 'ns/keys/x': SECRET.extraKey },
    routes: [
      {
        name: 'all',
        prefix: '/',
        backend: {
          static: { host: '127.0.0.1', port },
          inlinePolicies: {
            auth: {
              key: { secret: 'ns/keys/k' },
              location: { header: { name: 'X-Backend-Key' } },
              credentials: [{ key: { secret: 'ns/keys/x' }, location: { queryParameter: { name: 'extra' } } }],
            },
          },
        },
        inline: {
          jwtAuthentication: {
            mode: 'Permissive',
            providers: [],
            location: { expression: 'request.headers["x-signed"].split("|")[1]' },
          },
          requestHeaderModifier: { set: [{ name: 'authorization-like', value: 'harmless' }] },
          transformation: {
            request: {
              set: [
                // Copies of credentials into fields with other names.
                { name: 'type', expression: 'request.headers["authorization"]' },
                { name: 'x-copy', expression: '"copy of " + request.headers["x-client-key"]' },
              ],
            },
          },
        },
      },
    ],
    policies: [
      {
        key: 'ns/elsewhere',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'elsewhere' },
        target: { route: { kind: 'HTTPRoute', namespace: 'ns', name: 'elsewhere' } },
        policy: {
          traffic: {
            apiKeyAuthentication: { mode: 'Strict', location: { header: { name: 'X-Client-Key' } } },
            jwtAuthentication: { mode: 'Strict', providers: [], location: { queryParameter: { name: 'given' } } },
          },
        },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

describe('secrets', () => {
  it('are in no event', async () => {
    const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
    const query = `?access_token=${encodeURIComponent(SECRET.query)}&given=${SECRET.configuredQuery}&plain=shown`
    const response = await fetch(`${gateway.url}/x${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${SECRET.bearer}`,
        'proxy-authorization': `Basic ${SECRET.proxy}`,
        cookie: `a=1; session=${SECRET.cookie}`,
        'x-client-key': SECRET.clientKey,
        'x-signed': `1|${SECRET.signed}`,
      },
      body: `the token is ${SECRET.bearer}, the part ${SECRET.signed}`,
    })
    const echoed = await response.text()
    const events = await watcher.ended
    expect(outline(events)).toContain('requestSnapshot backend auth')
    const text = events
      .map(({ message, ...rest }) => {
        const { body, ...others } = message
        return JSON.stringify({ ...rest, ...others, body: Buffer.from(body ?? '', 'base64').toString('utf8') })
      })
      .join('\n')
    // The client and the backend got what is theirs: only the trace hides it.
    for (const seen of [SECRET.backendKey, SECRET.extraKey, SECRET.clientKey]) expect(echoed).toContain(seen)
    for (const secret of Object.values(SECRET)) {
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
        expect(text).not.toContain(form)
      }
    }
    expect(text).toContain('plain=shown')
    expect(text).toContain('copy of <redacted>')
    expect(text).toContain('the token is <redacted>, the part <redacted>')
    expect(text).toContain('split(')
  })
})
