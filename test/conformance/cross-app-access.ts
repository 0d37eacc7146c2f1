// backend.auth.crossAppAccess: the backend gets a token of its own in place of the ID token of the client.
import { expect } from 'vitest'
import { certificateFor } from '../certificates.ts'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import { adding } from './suite/services.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { type ShownRequest, shownBy } from './suite/token-endpoint.ts'

const SAMPLE = 'credentials/cross-app-access.yaml'
const POLICY = 'GwPolicy/cross-app-access'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

const pair = certificateFor({ commonName: 'gateway', names: ['DNS:gateway.example.com'] })
const signing = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'signing', namespace: 'default' },
  stringData: { key: pair.privateKey, chain: pair.certificate },
}

interface Exchange {
  readonly access: ShownRequest
  readonly assertion: ShownRequest
}

/** The request for the access token, and that for the assertion, which the former sends. */
async function exchanges(gateway: SampleGateway, path: string, question?: object): Promise<Exchange> {
  const { headers } = await gateway.echo(path, question)
  const access = shownBy(headers['authorization'])
  return { access, assertion: shownBy(`Bearer at.${(access.form['assertion'] ?? '').slice('jag.'.length)}`) }
}

const signed = (certificateHeader: string, assertionAudience: string) => ({
  clientAuth: {
    secretRef: null,
    method: 'PrivateKeyJwt',
    privateKeyJwt: {
      signingKeyRef: { name: 'signing', key: 'key' },
      alg: 'ES256',
      kid: 'key-1',
      assertionAudience,
      certificateRef: { name: 'signing', key: 'chain' },
      certificateHeader,
    },
  },
})

const source = (value: object) =>
  changing(POLICY, { backend: { auth: { crossAppAccess: { subjectToken: { source: value } } } } })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'CrossAppAccess',
    description: 'the application gets the access token of its own authorization server, never the ID token',
    sample: SAMPLE,
    async run(gateway) {
      const { access, assertion } = await exchanges(gateway, '/app', bearer('id-token'))
      expect(assertion).toEqual({
        path: '/login/token',
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: 'id-token',
          subject_token_type: ID_TOKEN,
          requested_token_type: ID_JAG,
          audience: 'https://app.example',
          scope: 'orders.read',
        },
        client: 'basic gateway',
      })
      expect(access).toMatchObject({
        path: '/app/token',
        form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', scope: 'orders.read' },
        client: 'post gateway-at-app',
      })
      const dump = JSON.stringify(await gateway.dump())
      for (const secret of ['gateway-secret', 'app-secret']) {
        expect(dump).not.toContain(secret)
        expect(gateway.log()).not.toContain(secret)
      }
    },
  },
  {
    shortName: 'CrossAppAccessRefused',
    description: 'a client without a valid ID token gets 400, and 500 if the identity provider fails',
    sample: SAMPLE,
    async run(gateway) {
      expect(await gateway.ask('/app')).toMatchObject({ status: 400 })
      expect(await gateway.ask('/app', bearer('refused'))).toMatchObject({ status: 400 })
      expect(await gateway.ask('/app', bearer('broken'))).toMatchObject({ status: 500 })
      expect((await gateway.ask('/app', bearer('good'))).status).toBe(200)
    },
  },
  {
    shortName: 'CrossAppAccessMissingSecret',
    description: 'without the secret of the client no request is sent, and the status names the reference',
    sample: SAMPLE,
    change: changing(POLICY, {
      backend: {
        auth: {
          crossAppAccess: {
            identityProvider: { clientAuth: { secretRef: { name: 'other', key: 'id' } } },
            resourceAuthorizationServer: { clientAuth: { secretRef: { key: 'other' } } },
          },
        },
      },
    }),
    async run(gateway) {
      expect(await gateway.ask('/app', bearer('id-token'))).toMatchObject({ status: 500 })
      const [accepted] = gateway.conditions('GwPolicy', 'cross-app-access')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message: [
          'identityProvider.clientAuth.secretRef: secret default/other not found',
          'resourceAuthorizationServer.clientAuth.secretRef: secret default/app-client missing other value',
        ]
          .map((text) => `spec.backend.auth.crossAppAccess.${text}`)
          .join('\n'),
      })
    },
  },
  {
    shortName: 'CrossAppAccessPrivateKeyJwt',
    description: 'the proxy authenticates by signed JWTs with their certificate, and asks for resources and scopes',
    sample: SAMPLE,
    change: all(
      adding(signing),
      changing(POLICY, {
        backend: {
          auth: {
            crossAppAccess: {
              identityProvider: signed('x5c', 'https://login.example/token'),
              resourceAuthorizationServer: signed('x5t#S256', 'https://app.example/token'),
              resources: ['https://app.example/orders'],
              cache: { inMemory: { maxEntries: 10, defaultTtl: '60s' } },
              subjectToken: { source: { header: { name: 'X-ID-Token', prefix: 'Token ' } } },
            },
          },
        },
      }),
    ),
    async run(gateway) {
      const headers = { 'x-id-token': 'Token id-token', authorization: 'Bearer client' }
      const { access, assertion } = await exchanges(gateway, '/app', { headers })
      expect(assertion.form).toMatchObject({ subject_token: 'id-token', resource: 'https://app.example/orders' })
      const claims = { iss: 'gateway', sub: 'gateway', aud: 'https://login.example/token' }
      expect(assertion.client).toMatchObject([{ alg: 'ES256', kid: 'key-1', x5c: [expect.any(String)] }, claims])
      expect(access.client).toMatchObject([{ 'x5t#S256': expect.any(String) }, { aud: 'https://app.example/token' }])
      expect((await gateway.echo('/app', { headers })).headers).not.toHaveProperty('x-id-token')
    },
  },
  {
    shortName: 'CrossAppAccessQuery',
    description: 'the ID token is taken from the query',
    sample: SAMPLE,
    change: source({ queryParameter: { name: 'id_token' } }),
    async run(gateway) {
      const { assertion } = await exchanges(gateway, '/app?id_token=id-token&a=1')
      expect(assertion.form['subject_token']).toBe('id-token')
      expect((await gateway.echo('/app?id_token=id-token&a=1')).path).toBe('/app?a=1')
    },
  },
  {
    shortName: 'CrossAppAccessCookie',
    description: 'the ID token is taken from a cookie',
    sample: SAMPLE,
    change: source({ cookie: { name: 'id' } }),
    async run(gateway) {
      const { assertion } = await exchanges(gateway, '/app', { headers: { cookie: 'id=id-token' } })
      expect(assertion.form['subject_token']).toBe('id-token')
    },
  },
  {
    shortName: 'CrossAppAccessExpression',
    description: 'the ID token is computed by an expression',
    sample: SAMPLE,
    change: source({ expression: 'request.headers["x-parts"].split("/")[1]' }),
    async run(gateway) {
      const { assertion } = await exchanges(gateway, '/app', { headers: { 'x-parts': 'a/id-token' } })
      expect(assertion.form['subject_token']).toBe('id-token')
    },
  },
]
