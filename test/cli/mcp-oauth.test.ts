// The official MCP client signs in through the gateway: metadata, registration, authorization code, token. The identity
// provider is a small one on loopback; the gateway adapts it, as it does for some products.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, expect, it } from 'vitest'
import { testIssuer, type TestIssuer } from '#proxy/auth/jwt.testing.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, GwProcess } from './gw.ts'

const STDIO_SERVER = fileURLToPath(new URL('testdata/stdio-server.ts', import.meta.url))
const REDIRECT = 'http://127.0.0.1/callback'

let folder = ''
let gw: GwProcess | undefined
let idp: Server | undefined

afterEach(async () => {
  await gw?.stop()
  if (idp !== undefined) closeServer(idp)
  rmSync(folder, { recursive: true, force: true })
})

/** Requests to the provider, by path. */
type Asked = Map<string, string>

async function startIdp(asked: Asked): Promise<TestIssuer> {
  let pages: ReadonlyMap<string, Page> = new Map()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://idp')
    const body = await text(request)
    asked.set(pathname, body)
    const page = pages.get(pathname)
    const [status, value, location] = (await page?.(body, searchParams)) ?? [404, {}]
    response.writeHead(status, { 'content-type': 'application/json', ...(location !== undefined && { location }) })
    response.end(JSON.stringify(value))
  }
  idp = createServer((request, response) => void answer(request, response))
  const issuer = await testIssuer(`http://127.0.0.1:${await listening(idp)}/realms/a`)
  pages = pagesOf(issuer, asked)
  return issuer
}

type Page = (body: string, query: URLSearchParams) => Answer | Promise<Answer>
type Answer = readonly [status: number, value: unknown, location?: string]

function pagesOf(idpKeys: TestIssuer, asked: Asked): ReadonlyMap<string, Page> {
  const { issuer, jwks } = idpKeys
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }
  return new Map<string, Page>([
    ['/realms/a/.well-known/openid-configuration', () => [200, metadata]],
    ['/realms/a/keys', () => [200, JSON.parse(jwks)]],
    [
      '/realms/a/clients-registrations/openid-connect',
      (body) => [201, { ...JSON.parse(body), client_id: 'registered' }],
    ],
    [
      '/realms/a/authorize',
      (_body, query) => {
        asked.set('resource', query.get('resource') ?? '')
        return [302, {}, `${REDIRECT}?code=c-1`]
      },
    ],
    [
      '/realms/a/token',
      async (body) => {
        if (new URLSearchParams(body).get('code') !== 'c-1') return [400, {}]
        const granted = await idpKeys.token({ aud: asked.get('resource') ?? '' })
        return [200, { access_token: granted, token_type: 'Bearer', expires_in: 3600 }]
      },
    ],
  ])
}

/** A user who agrees at once, without storage on disk. */
class ClientUser implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata = { redirect_uris: [REDIRECT], client_name: 'test' }
  code: string | undefined = undefined
  readonly #kept = new Map<string, unknown>()

  clientInformation(): never {
    // The SDK stored it itself.
    return this.#kept.get('client') as never
  }
  saveClientInformation(client: unknown): void {
    this.#kept.set('client', client)
  }
  tokens(): never {
    return this.#kept.get('tokens') as never // as above
  }
  saveTokens(tokens: unknown): void {
    this.#kept.set('tokens', tokens)
  }
  saveCodeVerifier(verifier: string): void {
    this.#kept.set('verifier', verifier)
  }
  codeVerifier(): string {
    return String(this.#kept.get('verifier'))
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    const { headers } = await fetch(url, { redirect: 'manual' })
    this.code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? undefined
  }
}

it('signs in with the official client, and calls a tool', { timeout: 60_000 }, async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-oauth-test-'))
  const asked: Asked = new Map()
  const issuer = await startIdp(asked)
  const port = await freePort()
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  const authentication = {
    issuer: issuer.issuer,
    audiences: [url.href],
    jwks: { url: `${issuer.issuer}/keys` },
    provider: { keycloak: {} },
    resourceMetadata: { resource: url.href, scopesSupported: ['read'] },
    authorization: { rules: ['jwt.sub == "someone"'] },
  }
  const stdio = { cmd: process.execPath, args: [STDIO_SERVER], env: { GREETING: 'hello' } }
  const file = join(folder, 'gateway.json')
  const mcp = { port, policies: { mcpAuthentication: authentication }, targets: [{ name: 'tool', stdio }] }
  writeFileSync(file, JSON.stringify({ mcp }))
  gw = new GwProcess(['run', '-f', file, ...ANY_PORTS])
  await gw.says('gw: serving')

  const user = new ClientUser()
  const client = new Client({ name: 'test', version: '1.0.0' })
  const first = new StreamableHTTPClientTransport(url, { authProvider: user })
  await expect(client.connect(first)).rejects.toThrow(UnauthorizedError)
  await first.finishAuth(user.code ?? '')
  // The client went to the gateway, and the gateway to the provider.
  expect([...asked.keys()]).toContain('/realms/a/clients-registrations/openid-connect')
  expect(asked.get('resource')).toBe(url.href)

  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: user }))
  const result = await client.callTool({ name: 'pid', arguments: {} })
  expect(JSON.stringify(result)).toContain('hello')
  await client.close()
  const response = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer x' } })
  await response.body?.cancel()
  expect(response.status).toBe(401)
})
