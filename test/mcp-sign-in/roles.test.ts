// Rules that read the roles of users and programs from tokens of a real authorization server, in both formats of the
// specification ("Identity provider integration for MCP").
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { signedInV1, signedInV2 } from './clients.ts'
import { type IdentityProvider, MACHINE, startIdentityProvider } from './identity-provider.ts'
import { VENDORS } from './vendors.ts'

const STDIO_SERVER = fileURLToPath(new URL('../cli/testdata/stdio-server.ts', import.meta.url))
const FORMATS = [
  ['of a tenant', 'tenants', '"admin" in jwt.tenants["T1"].roles'],
  ['without tenants', 'flat', '"admin" in jwt.roles'],
] as const

let folder = ''
let base = ''
let gateway: GwProcess | undefined
let idp: IdentityProvider | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-roles-'))
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  const [vendor] = VENDORS
  if (vendor === undefined) throw new Error('no vendor')
  const rolesOf = (user: string | undefined): string[] =>
    user === undefined || user === 'alice' ? ['admin'] : ['reader']
  const claims = (user: string | undefined): object => ({
    roles: rolesOf(user),
    tenants: { T1: { roles: rolesOf(user) }, T2: { roles: ['admin'] } },
  })
  const provider = await startIdentityProvider(vendor, { resource: `${base}/unused`, claims })
  idp = provider
  const routes = FORMATS.map(([, name, rule]) => ({
    name,
    matches: [`/${name}`, `/.well-known/oauth-protected-resource/${name}`].map((pathPrefix) => ({
      path: { pathPrefix },
    })),
    policies: {
      mcpAuthentication: {
        issuer: provider.issuer,
        audiences: [`${base}/${name}/mcp`],
        jwks: { url: provider.jwksUrl },
        resourceMetadata: { resource: `${base}/${name}/mcp`, scopesSupported: ['tools:read'] },
        authorization: { rules: [rule] },
      },
    },
    backends: [{ mcp: { targets: [{ name: 'tool', stdio: { cmd: process.execPath, args: [STDIO_SERVER] } }] } }],
  }))
  writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ gateways: { default: { port } }, routes }))
  gateway = new GwProcess(['run', '-f', join(folder, 'gateway.json'), ...ANY_PORTS])
  await gateway.says('gw: serving')
}, 120_000)

afterAll(async () => {
  await gateway?.stop()
  idp?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(FORMATS)('roles %s', (_format, name) => {
  it('a user with the role uses the tool', { timeout: 60_000 }, async () => {
    const client = await signedInV2(new URL(`${base}/${name}/mcp`), { login: 'alice' })
    expect(await client.tools()).toEqual(['pid'])
    expect(await client.call('pid')).toContain('content')
    await client.close()
  })

  it('another user does not find the tool', { timeout: 60_000 }, async () => {
    const client = await signedInV1(new URL(`${base}/${name}/mcp`), { login: 'bob' })
    expect(await client.tools()).toEqual([])
    await expect(client.call('pid')).rejects.toThrow('Unknown tool')
    await client.close()
  })

  it('a program with the role gets a token by client credentials', { timeout: 60_000 }, async () => {
    const url = `${base}/${name}/mcp`
    const client = new Client({ name: 'program', version: '1.0.0' })
    const headers = { authorization: `Bearer ${await programToken(url)}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['pid'])
    await client.close()
  })

  it('a token for another server is rejected', { timeout: 60_000 }, async () => {
    const token = await programToken(`${base}/other/mcp`)
    const response = await fetch(`${base}/${name}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    await response.body?.cancel()
    expect(response.status).toBe(401)
  })
})

it('a user signs in with a browser', { timeout: 90_000 }, async () => {
  const client = await signedInV2(new URL(`${base}/flat/mcp`), { hasBrowser: true })
  expect(await client.tools()).toEqual(['pid'])
  await client.close()
})

async function programToken(resource: string): Promise<string> {
  const basic = Buffer.from(`${MACHINE.id}:${encodeURIComponent(MACHINE.secret)}`).toString('base64')
  const response = await fetch(idp?.tokenUrl ?? '', {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'tools:read', resource }),
  })
  const { access_token: token } = (await response.json()) as { access_token?: string } // RFC 6749 section 5.1
  if (token === undefined) throw new Error(`the authorization server returned ${response.status}`)
  return token
}
