// Both official MCP clients sign in through the gateway at a real authorization server, without an adapter and with
// each of the six, emulated with the paths and differences of their products.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { CALLBACK, signedInV1, signedInV2, type SignedIn } from './clients.ts'
import { startIdentityProvider, type IdentityProvider } from './identity-provider.ts'
import { type Vendor, VENDORS } from './vendors.ts'

const STDIO_SERVER = fileURLToPath(new URL('../cli/testdata/stdio-server.ts', import.meta.url))
const STDIO = { cmd: process.execPath, args: [STDIO_SERVER], env: { GREETING: 'hello' } }
const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'

let folder = ''
let base = ''
let gw: GwProcess | undefined
const providers = new Map<string, IdentityProvider>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-sign-in-'))
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  for (const vendor of VENDORS) {
    const resource = urlOf(vendor).href
    const redirectUris = [CALLBACK, `${base}${SERVER}/${vendor.name}/mcp/callback`]
    providers.set(vendor.name, await startIdentityProvider(vendor, { resource, redirectUris }))
  }
  const file = join(folder, 'gateway.json')
  writeFileSync(file, JSON.stringify({ gateways: { default: { port } }, routes: VENDORS.map(routeOf) }))
  gw = new GwProcess(['run', '-f', file, ...ANY_PORTS])
  await gw.says('gw: serving')
}, 120_000)

afterAll(async () => {
  await gw?.stop()
  for (const provider of providers.values()) provider.stop()
  rmSync(folder, { recursive: true, force: true })
})

function urlOf({ name }: Vendor): URL {
  return new URL(`${base}/${name}/mcp`)
}

function providerOf({ name }: Vendor): IdentityProvider {
  const provider = providers.get(name)
  if (provider === undefined) throw new Error(`no provider ${name}`)
  return provider
}

function routeOf(vendor: Vendor): object {
  const { name, adapter, clientId, clientSecret } = vendor
  const { issuer, jwksUrl } = providerOf(vendor)
  const mcpAuthentication = {
    issuer,
    audiences: [urlOf(vendor).href],
    jwks: { url: jwksUrl },
    ...(adapter !== undefined && { provider: { [adapter]: {} } }),
    resourceMetadata: { resource: urlOf(vendor).href, scopesSupported: ['tools:read'] },
    clientId,
    clientSecret,
  }
  const paths = [`/${name}`, `${RESOURCE}/${name}`, `${SERVER}/${name}`]
  return {
    name,
    matches: paths.map((pathPrefix) => ({ path: { pathPrefix } })),
    policies: { mcpAuthentication },
    backends: [{ mcp: { targets: [{ name: 'tool', stdio: STDIO }] } }],
  }
}

async function jsonAt(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(base + path)
  expect([path, response.status]).toEqual([path, 200])
  return (await response.json()) as Record<string, unknown> // checked by the tests
}

async function signsIn(signedIn: (url: URL) => Promise<SignedIn>, vendor: Vendor): Promise<void> {
  const client = await signedIn(urlOf(vendor))
  expect(await client.call('pid')).toContain('hello')
  expect(client.user.returned.get('state')).toBe('state-of-the-client')
  await client.close()
}

describe.each(VENDORS)('$name', (vendor) => {
  it('client version 2 signs in and calls a tool', { timeout: 60_000 }, async () => {
    await signsIn(signedInV2, vendor)
    expect(providerOf(vendor).requests).toContain(`POST ${vendor.token}`)
  })

  it('client version 1 signs in and calls a tool', { timeout: 60_000, tags: ['full'] }, async () => {
    await signsIn(signedInV1, vendor)
    expect(providerOf(vendor).requests).toContain(`POST ${vendor.token}`)
  })
})

describe.each(VENDORS)('the authorization server of $name', (vendor) => {
  it('has the issuer for which clients fetch its metadata', async () => {
    const resource = await jsonAt(`${RESOURCE}/${vendor.name}/mcp`)
    const own = await jsonAt(`${SERVER}/${vendor.name}/mcp`)
    // RFC 8414 section 3.3, also for clients that look for it at the gateway.
    expect(own['issuer']).toBe(urlOf(vendor).href)
    expect(own['authorization_endpoint']).toEqual(expect.any(String))
    const isDirect = ['none', 'keycloak'].includes(vendor.name)
    expect(resource['authorization_servers']).toEqual([isDirect ? providerOf(vendor).issuer : own['issuer']])
  })
})

it('clients register and get tokens through the gateway only where the provider requires it', () => {
  for (const vendor of VENDORS) {
    const { requests } = providerOf(vendor)
    expect([vendor.name, requests.includes(`POST ${vendor.token}`)]).toEqual([vendor.name, true])
    const isRegistering = vendor.clientId === undefined
    expect([vendor.name, requests.includes(`POST ${vendor.registration}`)]).toEqual([vendor.name, isRegistering])
  }
})

it('the log has neither client secrets nor codes', () => {
  const log = `${gw?.stdout}${gw?.stderr}`
  expect(log).toContain('/entra/mcp')
  expect(log).not.toContain('planted-secret')
  expect(log).not.toMatch(/[?&]code=/)
})
