// traffic.jwtAuthentication: which tokens are accepted, what the backend gets, and missing keys.
import { expect } from 'vitest'
import { testIssuer } from '#proxy/auth/jwt.testing.ts'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'jwt-authentication.yaml'
/** Signed once with the key of the sample; its private part was not kept. */
const TOKEN =
  'eyJhbGciOiJFZERTQSIsImtpZCI6ImRlbW8ifQ.eyJpc3MiOiJodHRwczovL2lkcC5leGFtcGxlLmNvbSIsImF1ZCI6InNob3AiLCJzdWIiOiJhbGljZSIsInRlYW0iOiJ3ZWIiLCJleHAiOjQxMDI0NDQ4MDB9.CGQp7y3fK21P88S0z4JJFr67MZQ_1IaGjQ0g-6mX98hma9563ywLw1nmKqYsbSej5x9stb-Fane70BxnmbFAAQ'
const EXPIRED =
  'eyJhbGciOiJFZERTQSIsImtpZCI6ImRlbW8ifQ.eyJpc3MiOiJodHRwczovL2lkcC5leGFtcGxlLmNvbSIsImF1ZCI6InNob3AiLCJzdWIiOiJhbGljZSIsImV4cCI6MTcwMDAwMDAwMH0.4tjGL1fb-mwisx7bUC-w-zlSb2yhoYKNHlZbycrQ3HahTEnHXHF27BrwBMbHHRxc8pO2vofoUXfhBQvmqREbBA'
const OTHER_AUDIENCE =
  'eyJhbGciOiJFZERTQSIsImtpZCI6ImRlbW8ifQ.eyJpc3MiOiJodHRwczovL2lkcC5leGFtcGxlLmNvbSIsImF1ZCI6Im90aGVyIiwic3ViIjoiYWxpY2UiLCJleHAiOjQxMDI0NDQ4MDB9.73g25LMqc618-WXhKBCATdM8F2YJX9ZeeEUGI1kyHv5dG0mOgHEHbGExdAY8-f2xhHAAd7Y8VFE3GpXPB8bHDg'
const REFUSED = { status: 401 }
/** Nothing listens there. */
const CLOSED_PORT = 1

const METADATA_MATCH = `        - path:
            type: PathPrefix
            value: /.well-known/oauth-protected-resource/strict
`

const SERVER_METADATA = '/.well-known/oauth-authorization-server/strict'
const SERVER_MATCH = METADATA_MATCH.replace('/.well-known/oauth-protected-resource/strict', SERVER_METADATA)

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'JwtStrict',
    description: 'a valid token is accepted and removed, and other policies can use its claims; other requests get 401',
    sample: SAMPLE,
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', bearer(TOKEN))
      expect(headers['x-user']).toBe('alice')
      expect(headers).not.toHaveProperty('authorization')
      expect(await gateway.ask('/strict')).toMatchObject(REFUSED)
      for (const token of [EXPIRED, OTHER_AUDIENCE, `${TOKEN}x`, 'none']) {
        expect(await gateway.ask('/strict', bearer(token))).toMatchObject(REFUSED)
      }
    },
  },
  {
    shortName: 'JwtForeignKey',
    description: 'a token of the right issuer, signed with another key of the same name, is rejected',
    sample: SAMPLE,
    async run(gateway) {
      const forger = await testIssuer('https://idp.example.com', 'EdDSA', 'demo')
      expect(await gateway.ask('/strict', bearer(await forger.token({ aud: 'shop' })))).toMatchObject(REFUSED)
    },
  },
  {
    shortName: 'JwtOptional',
    description: 'a request without a token passes, a wrong token is rejected; a token in the query is removed',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/optional?a=1')).path).toBe('/optional?a=1')
      expect((await gateway.echo(`/optional?token=${TOKEN}&a=1`)).path).toBe('/optional?a=1')
      expect(await gateway.ask(`/optional?token=${EXPIRED}`)).toMatchObject(REFUSED)
    },
  },
  {
    shortName: 'JwtPermissive',
    description: 'no token is rejected, but rules can read only the claims of valid ones',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.echo('/permissive', bearer(TOKEN))
      for (const question of [{}, bearer(EXPIRED), bearer('none')]) {
        expect(await gateway.ask('/permissive', question)).toMatchObject({ status: 403 })
      }
    },
  },
  {
    shortName: 'JwtDenyWithoutSubject',
    description: 'a Deny rule matches requests without a token, and no others',
    sample: SAMPLE,
    change: changing('GwPolicy/jwt-authentication-permissive', {
      traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['!has(jwt.sub)'] } } },
    }),
    async run(gateway) {
      const [accepted] = gateway.conditions('GwPolicy', 'jwt-authentication-permissive')
      expect(accepted).toMatchObject({ status: 'True', reason: 'Valid' })
      await gateway.echo('/permissive', bearer(TOKEN))
      for (const question of [{}, bearer(EXPIRED), bearer('none')]) {
        expect(await gateway.ask('/permissive', question)).toMatchObject({ status: 403, text: 'authorization failed' })
      }
    },
  },
  {
    shortName: 'JwtPassthrough',
    description: 'with passthrough the backend gets the verified token in the place of the policy',
    sample: SAMPLE,
    change: replacing(
      '      sectionName: strict\n  traffic:\n',
      '      sectionName: strict\n  backend: {auth: {passthrough: {location: {header: {name: X-Token}}}}}\n  traffic:\n',
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', bearer(TOKEN))
      expect(headers['x-token']).toBe(TOKEN)
      expect(headers).not.toHaveProperty('authorization')
    },
  },
  {
    shortName: 'JwtPassthroughLocations',
    description: 'passthrough with a prefix, in the query and in a cookie',
    sample: SAMPLE,
    change: all(
      ...(
        [
          ['strict', { header: { name: 'x-token', prefix: 'Token ' } }],
          ['optional', { queryParameter: { name: 'proof' } }],
          ['permissive', { cookie: { name: 'proof' } }],
        ] as const
      ).map(([rule, location]) =>
        changing(`GwPolicy/jwt-authentication-${rule}`, { backend: { auth: { passthrough: { location } } } }),
      ),
    ),
    async run(gateway) {
      expect((await gateway.echo('/strict', bearer(TOKEN))).headers['x-token']).toBe(`Token ${TOKEN}`)
      expect((await gateway.echo(`/optional?token=${TOKEN}&a=1`)).path).toBe(`/optional?a=1&proof=${TOKEN}`)
      expect((await gateway.echo('/optional?a=1')).path).toBe('/optional?a=1')
      expect((await gateway.echo('/permissive', bearer(TOKEN))).headers['cookie']).toBe(`proof=${TOKEN}`)
    },
  },
  {
    shortName: 'JwtKeysNotAvailable',
    description: 'without fetched keys Strict rejects all requests, and the status names the URL',
    sample: SAMPLE,
    change: (manifests) =>
      manifests.replaceAll(
        /inline: '.*'/g,
        'remote: {jwksPath: /keys, backendRef: {group: gw.dev, kind: GwBackend, name: echo}}',
      ),
    run: (gateway) =>
      refusesWith(
        gateway,
        /providers\[0\]\.jwks\.remote: jwks keyset for "http:\/\/127\.0\.0\.1:\d+\/keys" isn't available/,
      ),
  },
  {
    shortName: 'JwtIssuerUnreachable',
    description: 'tokens of an issuer that cannot be reached are rejected, and the trace has the reason',
    sample: SAMPLE,
    change: all(
      (manifests) =>
        manifests.replaceAll(
          /inline: '.*'/g,
          'remote: {jwksPath: /keys, backendRef: {group: gw.dev, kind: GwBackend, name: idp}}',
        ),
      adding({
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GwBackend',
        metadata: { name: 'idp', namespace: 'default' },
        spec: { static: { host: '127.0.0.1', port: CLOSED_PORT } },
      }),
    ),
    async run(gateway) {
      const url = `http://127.0.0.1:${CLOSED_PORT}/keys`
      await expect.poll(() => gateway.log()).toContain(`gw: cannot fetch the keys of ${url}`)
      const { status, text } = await gateway.ask('/strict', bearer(TOKEN))
      expect([status, text]).toEqual([401, 'authentication failure: unknown key'])
      const events = await gateway.trace('/strict', bearer(TOKEN))
      const said = events.flatMap(({ message }) =>
        message.kind === 'jwt auth' ? [JSON.stringify(message.result)] : [],
      )
      expect(said).toEqual([
        expect.stringContaining(`no keys of https://idp.example.com: jwks keyset for \\"${url}\\" isn't available`),
      ])
    },
  },
  {
    shortName: 'JwtBrokenKeys',
    description: 'tokens are rejected if the response is not a key set',
    sample: SAMPLE,
    change: (manifests) => manifests.replaceAll(/inline: '.*'/g, "inline: 'no key set'"),
    run: (gateway) => refusesWith(gateway, /jwks\.inline is not a JSON Web Key Set/),
  },
  {
    shortName: 'JwtMcp',
    description: 'a rejection has the URL of the metadata for MCP clients; a valid token passes',
    sample: SAMPLE,
    change: (manifests) =>
      replacing(
        '    transformation:\n',
        '      mcp: {resourceMetadata: {scopesSupported: [read]}}\n    transformation:\n',
      )(replacing('            value: /strict\n', `            value: /strict\n${METADATA_MATCH}`)(manifests)),
    async run(gateway) {
      await gateway.echo('/strict', bearer(TOKEN))
      const { status, headers, text } = await gateway.ask('/strict')
      const at = `${gateway.url}/.well-known/oauth-protected-resource/strict`
      expect([status, headers['www-authenticate']]).toEqual([401, `Bearer resource_metadata="${at}"`])
      expect(JSON.parse(text)).toMatchObject({ error: 'unauthorized' })
      const metadata = await gateway.ask('/.well-known/oauth-protected-resource/strict')
      expect(JSON.parse(metadata.text)).toMatchObject({
        resource: `${gateway.url}/strict`,
        authorization_servers: ['https://idp.example.com'],
        scopes_supported: ['read'],
      })
    },
  },
  {
    shortName: 'JwtLocations',
    description: 'tokens are read from a header with a prefix, a cookie, or by an expression',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/jwt-authentication-strict', {
        traffic: { jwtAuthentication: { mode: 'Strict', location: { header: { name: 'X-Token', prefix: 'Token ' } } } },
      }),
      changing('GwPolicy/jwt-authentication-optional', {
        traffic: { jwtAuthentication: { location: { queryParameter: null, cookie: { name: 'token' } } } },
      }),
      changing('GwPolicy/jwt-authentication-permissive', {
        traffic: { jwtAuthentication: { location: { expression: 'request.headers["x-signed"].split("|")[1]' } } },
      }),
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', { headers: { 'x-token': `Token ${TOKEN}` } })
      expect(headers['x-user']).toBe('alice')
      expect(headers).not.toHaveProperty('x-token')
      expect(await gateway.ask('/strict', bearer(TOKEN))).toMatchObject(REFUSED)
      const jar = (token: string) => ({ headers: { cookie: `theme=dark; token=${token}` } })
      expect((await gateway.echo('/optional', jar(TOKEN))).headers['cookie']).toBe('theme=dark')
      expect(await gateway.ask('/optional', jar(EXPIRED))).toMatchObject(REFUSED)
      await gateway.echo('/permissive', { headers: { 'x-signed': `v1|${TOKEN}` } })
      expect(await gateway.ask('/permissive', bearer(TOKEN))).toMatchObject({ status: 403 })
    },
  },
  {
    shortName: 'JwtMcpClient',
    description: 'with an identity provider product and a fixed client, the gateway answers registrations',
    sample: SAMPLE,
    change: (manifests) =>
      changing('GwPolicy/jwt-authentication-strict', {
        traffic: { jwtAuthentication: { mcp: { provider: 'Keycloak', clientId: 'robot' } } },
      })(replacing('            value: /strict\n', `            value: /strict\n${SERVER_MATCH}`)(manifests)),
    async run(gateway) {
      const registration = { method: 'POST', body: JSON.stringify({ redirect_uris: ['https://app.example/done'] }) }
      const { status, text } = await gateway.ask(`${SERVER_METADATA}/client-registration`, registration)
      expect(status).toBe(201)
      expect(JSON.parse(text)).toMatchObject({ client_id: 'robot', redirect_uris: ['https://app.example/done'] })
      const elsewhere = await gateway.ask('/strict/client-registration', registration)
      expect(elsewhere.status).toBe(401)
    },
  },
]

async function refusesWith(gateway: SampleGateway, message: RegExp): Promise<void> {
  expect(await gateway.ask('/strict', bearer(TOKEN))).toMatchObject(REFUSED)
  const [accepted] = gateway.conditions('GwPolicy', 'jwt-authentication-strict')
  expect(accepted).toMatchObject({ status: 'True', reason: 'PartiallyValid' })
  expect(accepted?.message).toMatch(message)
}
