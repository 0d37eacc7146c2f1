// backend.auth.oauthTokenExchange: the backend gets a token of its own in place of the token of the client.
import { expect, vi } from 'vitest'
import { testIssuer } from '#proxy/auth/jwt.testing.ts'
import { certificateFor } from '../certificates.ts'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import { adding } from './suite/services.ts'
import { shownBy } from './suite/token-endpoint.ts'

const SAMPLE = 'credentials/oauth-token-exchange.yaml'
const LOG_DEADLINE_MS = 10_000
const TYPE = 'urn:ietf:params:oauth:token-type:'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const policy = (oauthTokenExchange: object) =>
  changing('GwPolicy/oauth-token-exchange', { backend: { auth: { oauthTokenExchange } } })
const jwt = (claims: object): string => `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`

const pair = certificateFor({ commonName: 'gateway', names: ['DNS:gateway.example.com'] })
const signing = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'signing', namespace: 'default' },
  stringData: { key: pair.privateKey, chain: pair.certificate },
}

const issuer = await testIssuer('https://idp.example.com')
const verified = {
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GwPolicy',
  metadata: { name: 'verified', namespace: 'default' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'app' }],
    traffic: {
      jwtAuthentication: { providers: [{ issuer: 'https://idp.example.com', jwks: { inline: issuer.jwks } }] },
    },
  },
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'OAuthTokenExchange',
    description: 'the backend gets the token of the token endpoint, never that of the client',
    sample: SAMPLE,
    async run(gateway) {
      const { headers } = await gateway.echo('/app', bearer('user-token'))
      expect(shownBy(headers['authorization'])).toEqual({
        path: '/token',
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: 'user-token',
          subject_token_type: `${TYPE}access_token`,
          audience: 'orders',
          scope: 'orders.read',
        },
        client: 'basic gateway',
      })
      expect(JSON.stringify(await gateway.dump())).not.toContain('gateway-secret')
      expect(gateway.log()).not.toContain('gateway-secret')
    },
  },
  {
    shortName: 'OAuthTokenExchangeRefused',
    description: 'a client without a valid token gets 400, and 500 if the token endpoint fails',
    sample: SAMPLE,
    async run(gateway) {
      expect(await gateway.ask('/app')).toMatchObject({ status: 400 })
      expect(await gateway.ask('/app', bearer('refused'))).toMatchObject({ status: 400 })
      expect(await gateway.ask('/app', bearer('broken'))).toMatchObject({ status: 500 })
      expect((await gateway.ask('/app', bearer('good'))).status).toBe(200)
    },
  },
  {
    shortName: 'OAuthTokenExchangeActor',
    description: 'the actor is sent if the subject permits it, with all other fields',
    sample: SAMPLE,
    change: policy({
      subjectToken: { source: { header: { name: 'X-User', prefix: 'User ' } }, tokenType: 'Jwt' },
      actorToken: { source: { header: { name: 'X-Actor', prefix: 'Actor ' } }, tokenType: 'Jwt', mayAct: 'Required' },
      grantType: 'TokenExchange',
      audiences: ['a', 'b'],
      resources: ['https://a.example', 'https://b.example'],
      requestedTokenType: 'Jwt',
      additionalParams: { tenant: 'request.headers["x-tenant"]' },
      location: { header: { name: 'X-Token', prefix: 'Token ' } },
      cache: { inMemory: { maxEntries: 10, defaultTtl: '60s' } },
    }),
    async run(gateway) {
      const [subject, actor] = [jwt({ sub: 'ann', may_act: { sub: 'agent' } }), jwt({ sub: 'agent' })]
      const headers = { 'x-user': `User ${subject}`, 'x-actor': `Actor ${actor}`, 'x-tenant': 'shop' }
      const { headers: sent } = await gateway.echo('/app', { headers })
      expect(shownBy(sent['x-token']?.replace('Token', 'Bearer')).form).toMatchObject({
        subject_token: subject,
        subject_token_type: `${TYPE}jwt`,
        actor_token: actor,
        actor_token_type: `${TYPE}jwt`,
        requested_token_type: `${TYPE}jwt`,
        audience: 'a,b',
        resource: 'https://a.example,https://b.example',
        tenant: 'shop',
      })
      for (const name of ['x-user', 'x-actor']) expect(sent).not.toHaveProperty(name)
      const other = { ...headers, 'x-actor': `Actor ${jwt({ sub: 'other' })}` }
      expect(await gateway.ask('/app', { headers: other })).toMatchObject({ status: 403 })
      expect(await gateway.ask('/app', { headers: { ...headers, 'x-actor': '' } })).toMatchObject({ status: 400 })
      const { 'x-tenant': _, ...without } = headers
      expect(await gateway.ask('/app', { headers: without })).toMatchObject({ status: 400 })
    },
  },
  {
    shortName: 'OAuthTokenExchangeJwtBearer',
    description: 'the token of the client is the assertion of the grant, and the proxy signs its own',
    sample: SAMPLE,
    change: all(
      adding(signing),
      policy({
        grantType: 'JwtBearer',
        clientAuth: {
          secretRef: null,
          method: 'PrivateKeyJwt',
          privateKeyJwt: {
            signingKeyRef: { name: 'signing', key: 'key' },
            alg: 'ES256',
            kid: 'key-1',
            assertionAudience: 'https://sts.example/token',
            certificateRef: { name: 'signing', key: 'chain' },
            certificateHeader: 'x5c',
          },
        },
        subjectToken: { source: { queryParameter: { name: 'token' } } },
        location: { queryParameter: { name: 'access' } },
      }),
    ),
    async run(gateway) {
      const { path } = await gateway.echo('/app?a=1&token=user-token')
      const [before, token] = path.split('&access=')
      expect(before).toBe('/app?a=1')
      expect(shownBy(`Bearer ${token}`)).toMatchObject({
        form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'user-token' },
        client: [{ alg: 'ES256', kid: 'key-1', x5c: [expect.any(String)] }, { aud: 'https://sts.example/token' }],
      })
    },
  },
  {
    shortName: 'OAuthTokenExchangeCookies',
    description: 'tokens are taken from cookies and written into one',
    sample: SAMPLE,
    change: policy({
      subjectToken: { source: { cookie: { name: 'user' } }, tokenType: 'IdToken' },
      actorToken: { source: { cookie: { name: 'actor' } }, tokenType: 'IdToken' },
      requestedTokenType: 'IdToken',
      location: { cookie: { name: 'token' } },
    }),
    async run(gateway) {
      const { headers } = await gateway.echo('/app', { headers: { cookie: 'user=u; actor=a; theme=dark' } })
      const [theme, token] = headers['cookie']?.split('; token=') ?? []
      expect(theme).toBe('theme=dark')
      expect(shownBy(`Bearer ${token}`).form).toMatchObject({ subject_token: 'u', actor_token: 'a' })
    },
  },
  {
    shortName: 'OAuthTokenExchangeVerified',
    description: 'the token that a JWT policy verified and removed is exchanged',
    sample: SAMPLE,
    change: all(
      adding(verified),
      policy({
        subjectToken: { source: { expression: 'jwt.rawToken.unredacted()' } },
        actorToken: { source: { expression: '"gateway-of-" + jwt.sub' }, tokenType: 'urn:example:actor' },
        requestedTokenType: 'AccessToken',
      }),
    ),
    async run(gateway) {
      const token = await issuer.token({ sub: 'ann' })
      const { headers } = await gateway.echo('/app', bearer(token))
      expect(shownBy(headers['authorization']).form).toMatchObject({
        subject_token: token,
        actor_token: 'gateway-of-ann',
        actor_token_type: 'urn:example:actor',
      })
      expect(await gateway.ask('/app', bearer('none'))).toMatchObject({ status: 401 })
    },
  },
  {
    shortName: 'OAuthTokenExchangeRetried',
    description: 'a request that is sent again gets the token for each try',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/app', { static: { host: '127.0.0.1', port: 18_089 } }),
      adding({
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GwPolicy',
        metadata: { name: 'again', namespace: 'default' },
        spec: {
          targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'app' }],
          traffic: { retry: { attempts: 1, codes: [503] } },
        },
      }),
    ),
    async run(gateway) {
      expect(await gateway.ask('/app', bearer('user-token'))).toMatchObject({ status: 200, text: 'served on try 1' })
    },
  },
  {
    shortName: 'OAuthTokenExchangeActorQuery',
    description: 'the actor token is taken from the query',
    sample: SAMPLE,
    change: policy({ actorToken: { source: { queryParameter: { name: 'actor' } } } }),
    async run(gateway) {
      const { headers, path } = await gateway.echo('/app?actor=a&b=1', bearer('user-token'))
      expect(shownBy(headers['authorization']).form).toMatchObject({ subject_token: 'user-token', actor_token: 'a' })
      expect(path).toBe('/app?b=1')
    },
  },
  {
    shortName: 'OAuthTokenExchangeMissingSecret',
    description: 'without the secret of the client no request is sent, and the status names the reference',
    sample: SAMPLE,
    change: policy({ clientAuth: { secretRef: { name: 'sts-client', key: 'other' } } }),
    async run(gateway) {
      expect(await gateway.ask('/app', bearer('user-token'))).toMatchObject({ status: 500 })
      const [accepted] = gateway.conditions('GwPolicy', 'oauth-token-exchange')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message:
          'spec.backend.auth.oauthTokenExchange.clientAuth.secretRef: secret default/sts-client missing other value',
      })
    },
  },
  {
    shortName: 'OAuthTokenExchangeAtTokenEndpoint',
    description: 'a token endpoint that requires a token of a token endpoint is not called',
    sample: SAMPLE,
    change: changing('GwBackend/sts', {
      policies: {
        auth: { oauthTokenExchange: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'sts' } } },
      },
    }),
    async run(gateway) {
      expect(await gateway.ask('/app', bearer('another-token'))).toMatchObject({ status: 500 })
      await vi.waitUntil(() => gateway.log().includes('oauthTokenExchange: token endpoint'), {
        timeout: LOG_DEADLINE_MS,
      })
      expect(gateway.log()).toContain('a token endpoint cannot require a token of a token endpoint')
    },
  },
]
