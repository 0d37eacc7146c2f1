// Codes, tokens and client secrets of a sign-in through the gateway are in no event of a trace.
// @module-tag full
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { watchTrace } from '../../../trace/watcher.testing.ts'

const SERVER = '/.well-known/oauth-authorization-server/mcp'
const CLIENT = 'http://127.0.0.1:9/callback'

let idp: Server
let issuer = ''
let gateway: TestProxy

beforeAll(async () => {
  idp = createServer((request, response) => {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      authorization_response_iss_parameter_supported: true,
    }
    if (request.method === 'GET') response.end(JSON.stringify(metadata))
    else response.end(JSON.stringify({ access_token: 'planted-access-token', refresh_token: 'planted-refresh-token' }))
  })
  issuer = `http://127.0.0.1:${await listening(idp)}`
  const mcp = { clientId: 'ours', clientSecret: { secret: 'ns/idp/secret' } }
  gateway = await testProxy({
    secrets: { 'ns/idp/secret': 'planted-client-secret' },
    routes: [
      {
        name: 'all',
        prefix: '/',
        backend: { static: { host: '127.0.0.1', port: 1 } },
        inline: { jwtAuthentication: { mode: 'Strict', providers: [{ issuer, jwks: '{"keys":[]}' }], mcp } },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(idp)
})

async function traced(
  path: string,
  options: RequestInit,
): Promise<{ response: Response; text: string; trace: string }> {
  const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
  const response = await fetch(gateway.url + path, { redirect: 'manual', ...options })
  const text = await response.text()
  const events = await watcher.ended
  const shown = events.map(({ message, ...rest }) => {
    const { body, ...others } = message
    return JSON.stringify({ ...rest, ...others, body: Buffer.from(body ?? '', 'base64').toString('utf8') })
  })
  return { response, text, trace: shown.join('\n') }
}

it('the code of a user who returns', async () => {
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: 'ours',
    redirect_uri: CLIENT,
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  })
  const started = await traced(`${SERVER}/authorize?${request.toString()}`, {})
  const location = new URL(started.response.headers.get('location') ?? '')
  expect(location.searchParams.get('redirect_uri')).toBe(`${gateway.url}${SERVER}/callback`)
  const returned = new URLSearchParams({
    code: 'planted-code',
    iss: issuer,
    state: location.searchParams.get('state') ?? '',
  })
  const { response, trace } = await traced(`${SERVER}/callback?${returned.toString()}`, {})
  expect(response.headers.get('location')).toContain(`${CLIENT}?code=planted-code`)
  expect(trace).toContain('/callback')
  expect(trace).not.toContain('planted')
})

it('the tokens of a user and the secret of the client', async () => {
  const body = 'grant_type=authorization_code&client_id=ours&code=planted-code&code_verifier=planted-verifier'
  const { response, text, trace } = await traced(`${SERVER}/token`, { method: 'POST', body })
  expect([response.status, text.includes('planted-access-token')]).toEqual([200, true])
  expect(trace).toContain('/token')
  expect(trace).not.toContain('planted')
})
