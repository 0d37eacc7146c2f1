// Sign-in of MCP clients with policies of Kubernetes: on a route (traffic.jwtAuthentication.mcp), and on a backend
// (backend.mcp.authentication), whose client secret is in a Secret.
// @module-tag full
import type { Server } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { mcpServer } from '../../hack/quickstart/mcp.ts'
import { CALLBACK, signedInV1, signedInV2 } from './clients.ts'
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts'
import { VENDORS } from './vendors.ts'

const PLACES = ['keycloak-client', 'entra'] as const
const WELL_KNOWN = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server']

let folder = ''
let base = ''
let tools: Server | undefined
let gateway: GwProcess | undefined
const providers: IdentityProvider[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-manifests-'))
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  tools = mcpServer()
  const toolsPort = await listening(tools)
  const manifests: object[] = [gatewayOf(port), secretOf('entra', 'planted-secret-of-entra')]
  for (const name of PLACES) {
    const vendor = VENDORS.find((one) => one.name === name)
    if (vendor === undefined) throw new Error(`no vendor ${name}`)
    const url = `${base}/${name}/mcp`
    const callback = `${base}/.well-known/oauth-authorization-server/${name}/mcp/callback`
    const provider = await startIdentityProvider(vendor, { resource: url, redirectUris: [CALLBACK, callback] })
    providers.push(provider)
    manifests.push(
      backendOf(name, { mcp: { targets: [{ name: 'tools', static: { host: '127.0.0.1', port: toolsPort } }] } }),
      backendOf(`${name}-idp`, { static: { host: '127.0.0.1', port: Number(new URL(provider.origin).port) } }),
      routeOf(name),
      name === 'entra' ? policyOfBackend(provider, url) : policyOfRoute(provider, url),
    )
  }
  writeFileSync(join(folder, 'manifests.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }))
  gateway = new GwProcess(['run', '-f', join(folder, 'manifests.json'), ...ANY_PORTS])
  await gateway.says('gw: serving')
}, 120_000)

afterAll(async () => {
  await gateway?.stop()
  for (const provider of providers) provider.stop()
  if (tools !== undefined) closeServer(tools)
  rmSync(folder, { recursive: true, force: true })
})

function gatewayOf(port: number): object {
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web' },
    spec: { gatewayClassName: 'gw', listeners },
  }
}

function secretOf(name: string, clientSecret: string): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { clientSecret } }
}

function backendOf(name: string, spec: object): object {
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', metadata: { name }, spec }
}

function routeOf(name: string): object {
  const paths = ['', ...WELL_KNOWN].map((start) => `${start}/${name}`)
  const matches = paths.map((value) => ({ path: { type: 'PathPrefix', value } }))
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name },
    spec: {
      parentRefs: [{ name: 'web' }],
      rules: [{ matches, backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name }] }],
    },
  }
}

function keysOf({ vendor, jwksUrl }: IdentityProvider): object {
  const backendRef = { group: 'gw.dev', kind: 'GwBackend', name: `${vendor.name}-idp` }
  return { backendRef, jwksPath: new URL(jwksUrl).pathname.slice(1) }
}

function policyOf(name: string, target: object, spec: object): object {
  return {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name },
    spec: { targetRefs: [target], ...spec },
  }
}

function policyOfRoute(provider: IdentityProvider, url: string): object {
  const { vendor, issuer } = provider
  const jwtAuthentication = {
    providers: [{ issuer, audiences: [url], jwks: { remote: keysOf(provider) } }],
    mcp: {
      provider: 'Keycloak',
      clientId: vendor.clientId,
      resourceMetadata: { resource: url, scopesSupported: ['tools:read'] },
    },
  }
  const target = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: vendor.name }
  return policyOf(vendor.name, target, { traffic: { jwtAuthentication } })
}

function policyOfBackend(provider: IdentityProvider, url: string): object {
  const { vendor, issuer } = provider
  const authentication = {
    issuer,
    audiences: [url],
    jwks: keysOf(provider),
    provider: 'Entra',
    clientId: vendor.clientId,
    clientSecretRef: { name: 'entra' },
    resourceMetadata: { resource: url, scopesSupported: ['tools:read'] },
  }
  const target = { group: 'gw.dev', kind: 'GwBackend', name: vendor.name }
  return policyOf(vendor.name, target, { backend: { mcp: { authentication } } })
}

it.each(PLACES)('%s', { timeout: 60_000 }, async (name) => {
  for (const signedIn of [signedInV2, signedInV1]) {
    const client = await signedIn(new URL(`${base}/${name}/mcp`))
    expect(await client.tools()).toEqual(['echo', 'add', 'upper'])
    await client.close()
  }
})
