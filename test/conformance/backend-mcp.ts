// backend.mcp: lists are filtered, calls of forbidden tools get the error of an unknown tool; and clients that need a
// token.
import { expect } from 'vitest'
import { stringify } from 'yaml'
import { testIssuer } from '#proxy/auth/jwt.testing.ts'
import type { Answer } from './suite/ask.ts'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { callTool, toolNames, withMcp } from './suite/mcp-client.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'backend-mcp.yaml'
const ADMIN = { path: '/mcp', headers: { 'x-role': 'admin' } }

const issuer = await testIssuer('https://idp.example.com')
const stranger = testIssuer('https://idp.example.com')
const authentication = {
  mode: 'Strict',
  issuer: 'https://idp.example.com',
  audiences: ['tools'],
  jwks: { jwksPath: '/keys', backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'idp' } },
  resourceMetadata: { scopesSupported: ['read'] },
  provider: 'Keycloak',
  clientId: 'robot',
  clientSecretRef: { name: 'robot', key: 'word' },
}
const IDP = { kind: 'GwBackend', metadata: { name: 'idp', namespace: 'default' } }

/** The stored keys, as the control plane writes them after the fetch, and the secret of the client. */
function withKeys(manifests: string): string {
  const url = 'http://127.0.0.1:18081/keys'
  const stored = { requestKey: JSON.stringify([url, '']), url, fetchedAt: '2026-01-01T00:00:00Z', jwks: issuer.jwks }
  const objects = [
    { apiVersion: 'gw.dev/v1alpha1', ...IDP, spec: { static: { host: '127.0.0.1', port: 18_081 } } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'keys', namespace: 'gw-system', labels: { 'app.kubernetes.io/component': 'jwks-store' } },
      data: { 'jwks-store': JSON.stringify(stored) },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'robot', namespace: 'default' },
      stringData: { word: 'client-s3cret' },
    },
  ]
  return [manifests, ...objects.map((object) => stringify(object))].join('---\n')
}

const SERVER_METADATA = '/.well-known/oauth-authorization-server/mcp'
const withMetadata = changing('HTTPRoute/backend-mcp', {
  rules: [
    {
      name: 'mcp',
      matches: [
        { path: { value: '/mcp' } },
        { path: { value: '/.well-known/oauth-protected-resource/mcp' } },
        { path: { value: SERVER_METADATA } },
      ],
      backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'tools' }],
    },
  ],
})

/** The response to the first message of a session. */
function initialized(gateway: SampleGateway): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  return gateway.ask('/mcp', { method: 'POST', headers, body })
}

const GUARD = { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'guard' } }
const NO_GUARD = { backendRef: { name: 'nowhere', port: 80 } }

/** The rules allow all tools of a tenant that a guardrail service found. */
const ofTenant = (tenant: string) => ({
  action: 'Allow',
  policy: { matchExpressions: [`mcpGuardrails.tenant == "${tenant}" && mcpGuardrails.names == ":path,x-tenant"`] },
})

/** The policy of the sample with guardrails, and their service. */
function guarded(...processors: readonly object[]): (manifests: string) => string {
  return all(
    changing('GwPolicy/backend-mcp-echo', { backend: { mcp: { guardrails: { processors } } } }),
    adding({
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: { name: 'guard', namespace: 'default' },
      spec: { static: { host: '127.0.0.1', port: 18_091 } },
    }),
  )
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'MCPAuthorization',
    description: 'clients can list and call only the tools that their rules allow',
    sample: SAMPLE,
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp' }, async (client) => {
        expect(await toolNames(client)).toEqual(['echo'])
        expect(await callTool(client, 'echo', { text: 'hi' })).toBe('hi')
        await expect(client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).rejects.toThrow('Unknown tool: add')
      })
      await withMcp(gateway, ADMIN, async (client) => {
        expect(await toolNames(client)).toEqual(['echo', 'add'])
        expect(await callTool(client, 'add', { a: 2, b: 40 })).toBe('42')
        await expect(client.callTool({ name: 'upper', arguments: { text: 'x' } })).rejects.toThrow('Unknown tool')
      })
    },
  },
  {
    shortName: 'MCPAuthorizationRequire',
    description: 'a Require rule applies to every tool, also to allowed ones',
    sample: SAMPLE,
    change: replacing(
      'action: Allow\n        policy:\n          matchExpressions:\n            - mcp.tool.name == "add"\n',
      'action: Require\n        policy:\n          matchExpressions:\n',
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp' }, async (client) => expect(await toolNames(client)).toEqual([]))
      await withMcp(gateway, ADMIN, async (client) => expect(await toolNames(client)).toEqual(['echo']))
    },
  },
  {
    shortName: 'MCPAuthorizationBroken',
    description: 'an Allow rule that does not compile allows nothing',
    sample: SAMPLE,
    change: replacing('request.headers["x-role"] == "admin"', 'request.headers["x-role"'),
    async run(gateway) {
      await withMcp(gateway, ADMIN, async (client) => expect(await toolNames(client)).toEqual(['echo']))
      const [accepted] = gateway.conditions('GwPolicy', 'backend-mcp-admin')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('spec.backend.mcp.authorization.policy.matchExpressions[1]')
    },
  },
  {
    shortName: 'MCPAuthorizationBrokenDeny',
    description: 'a Deny rule that could never match rejects all requests to the backend',
    sample: SAMPLE,
    change: replacing(
      'action: Allow\n        policy:\n          matchExpressions:\n            - mcp.tool.name == "add"',
      'action: Deny\n        policy:\n          matchExpressions:\n            - mcp.tool.name ==',
    ),
    async run(gateway) {
      expect(await initialized(gateway)).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'backend-mcp-admin')
      expect(accepted?.message).toContain('spec.backend.mcp.authorization.policy.matchExpressions[0]')
    },
  },
  {
    shortName: 'MCPGuardrails',
    description: 'a service rejects and changes calls and results; rules read its metadata',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/backend-mcp-admin', { backend: { mcp: { authorization: ofTenant('acme') } } }),
      guarded({
        remote: {
          ...GUARD,
          failureMode: 'FailClosed',
          metadata: { tenant: 'request.headers["x-tenant"]' },
          allowedRequestHeaders: ['X-Tenant', ':path', 'x-role'],
          disallowedRequestHeaders: ['X-Role'],
        },
        methods: { 'tools/call': 'Full', '*': 'Off' },
      }),
    ),
    async run(gateway) {
      const acme = { path: '/mcp', headers: { 'x-tenant': 'acme', 'x-role': 'admin' } }
      await withMcp(gateway, acme, async (client) => {
        expect(await callTool(client, 'upper', { text: 'hi' })).toBe('HI')
        expect(await callTool(client, 'echo', { text: 'the password' })).toBe('the second')
        await expect(client.callTool({ name: 'echo', arguments: { text: 'forbidden' } })).rejects.toMatchObject({
          code: -32_001,
          message: expect.stringContaining('not this text') as unknown,
        })
        await expect(client.callTool({ name: 'upper', arguments: { text: 'password' } })).rejects.toMatchObject({
          code: -32_003,
        })
      })
      await withMcp(gateway, { path: '/mcp', headers: { 'x-tenant': 'other' } }, async (client) => {
        await expect(client.callTool({ name: 'upper', arguments: { text: 'x' } })).rejects.toThrow('Unknown tool')
      })
      expect(gateway.conditions('GwPolicy', 'backend-mcp-echo')[0]).toMatchObject({ reason: 'Valid' })
    },
  },
  {
    shortName: 'MCPGuardrailsUnreachable',
    description: 'requests fail if a service cannot be called, unless its failure mode allows them',
    sample: SAMPLE,
    change: guarded(
      { remote: { ...NO_GUARD, failureMode: 'FailOpen' }, methods: { 'tools/*': 'Response' } },
      {
        remote: NO_GUARD,
        methods: { 'tools/call': 'Request' },
      },
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp' }, async (client) => {
        expect(await toolNames(client)).toEqual(['echo'])
        await expect(client.callTool({ name: 'echo', arguments: { text: 'hi' } })).rejects.toMatchObject({
          code: -32_603,
        })
      })
    },
  },
  {
    shortName: 'MCPAuthentication',
    description: 'a valid token passes; other requests get 401 with the URL of the metadata, which needs no token',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/backend-mcp-echo', { backend: { mcp: { authentication } } }),
      withKeys,
      withMetadata,
    ),
    async run(gateway) {
      const bearer = (token: string) => ({ path: '/mcp', headers: { authorization: `Bearer ${token}` } })
      const token = await issuer.token({ aud: 'tools' })
      await withMcp(gateway, bearer(token), async (client) => expect(await toolNames(client)).toEqual(['echo']))
      for (const wrong of [await issuer.token({ aud: 'other' }), await (await stranger).token({ aud: 'tools' })]) {
        const { status } = await gateway.ask('/mcp', { method: 'POST', ...bearer(wrong), body: '{}' })
        expect(status).toBe(401)
      }
      const refused = await gateway.ask('/mcp', { method: 'POST', body: '{}' })
      const at = `${gateway.url}/.well-known/oauth-protected-resource/mcp`
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, `Bearer resource_metadata="${at}"`])
      const metadata = await gateway.ask('/.well-known/oauth-protected-resource/mcp')
      expect(JSON.parse(metadata.text)).toMatchObject({ resource: `${gateway.url}/mcp`, scopes_supported: ['read'] })
      const registration = { method: 'POST', body: JSON.stringify({ redirect_uris: ['https://app.example/done'] }) }
      const registered = await gateway.ask(`${SERVER_METADATA}/client-registration`, registration)
      expect(registered.status).toBe(201)
      expect(JSON.parse(registered.text)).toMatchObject({ client_id: 'robot' })
      const elsewhere = await gateway.ask('/mcp/client-registration', registration)
      expect(elsewhere.status).toBe(401)
      expect(JSON.stringify(await gateway.dump())).not.toContain('client-s3cret')
    },
  },
  {
    shortName: 'MCPAuthenticationModes',
    description:
      'Optional accepts clients without a token, Permissive all clients; without an issuer, any issuer is accepted',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/backend-mcp-echo', {
        backend: { mcp: { authentication: { jwks: authentication.jwks, mode: 'Permissive' } } },
      }),
      withKeys,
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp', headers: { authorization: 'Bearer none' } }, async (client) =>
        expect(await toolNames(client)).toEqual(['echo']),
      )
    },
  },
  {
    shortName: 'MCPAuthenticationOptional',
    description: 'but a wrong token is rejected',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/backend-mcp-echo', {
        backend: { mcp: { authentication: { jwks: authentication.jwks, mode: 'Optional' } } },
      }),
      withKeys,
    ),
    async run(gateway) {
      await withMcp(gateway, { path: '/mcp' }, async (client) => expect(await toolNames(client)).toEqual(['echo']))
      const headers = { authorization: `Bearer ${await (await stranger).token({ aud: 'tools' })}` }
      expect((await gateway.ask('/mcp', { method: 'POST', headers, body: '{}' })).status).toBe(401)
    },
  },
  {
    shortName: 'MCPAuthenticationNoKeys',
    description:
      'without the keys of the issuer the endpoint rejects all requests, and the status names the missing object',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-mcp-echo', { backend: { mcp: { authentication } } }),
    async run(gateway) {
      const headers = { authorization: `Bearer ${await issuer.token({ aud: 'tools' })}` }
      expect((await gateway.ask('/mcp', { method: 'POST', headers, body: '{}' })).status).toBe(401)
      const messages = gateway.source.problems.map(({ message }) => message)
      expect(messages).toEqual([
        'secret default/robot not found',
        'backend(default/idp) not found: there is no GwBackend default/idp',
      ])
    },
  },
]
