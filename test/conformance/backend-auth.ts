// backend.auth: where credentials are sent; a missing one is never sent as an empty one.
import { expect, vi } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-auth.yaml'
const LOG_DEADLINE_MS = 10_000

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendAuth',
    description: 'the credential of the Secret replaces the value of the client in the same place',
    sample: SAMPLE,
    async run(gateway) {
      const headers = { authorization: 'Bearer client', 'x-api-key': 'client', cookie: 'session=client; theme=dark' }
      expect((await gateway.echo('/bearer', { headers })).headers).toMatchObject({ authorization: 'Bearer main-key' })
      expect((await gateway.echo('/header', { headers })).headers).toMatchObject({
        'x-api-key': 'second-key',
        authorization: 'Bearer client',
      })
      expect((await gateway.echo('/query?a=1&key=client')).path).toBe('/query?a=1&key=second-key')
      expect((await gateway.echo('/both', { headers })).headers).toMatchObject({
        authorization: 'Bearer main-key',
        cookie: 'theme=dark; session=second-key',
      })
    },
  },
  {
    shortName: 'BackendAuthSecretsStaySecret',
    description: 'dump and log contain no credential',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.echo('/bearer')
      await gateway.echo('/query')
      await vi.waitUntil(() => gateway.log().includes('http.path=/query'), { timeout: LOG_DEADLINE_MS })
      const dump = JSON.stringify(await gateway.policies())
      for (const secret of ['main-key', 'second-key']) {
        expect(dump).not.toContain(secret)
        expect(gateway.log()).not.toContain(secret)
      }
    },
  },
  {
    shortName: 'BackendAuthMissingSecret',
    description: 'without its Secret the request fails; it is never sent without the credential',
    sample: SAMPLE,
    change: replacing('kind: Secret\nmetadata:\n  name: backend-keys', 'kind: Secret\nmetadata:\n  name: other-keys'),
    async run(gateway) {
      const refused = { status: 500, text: 'backend authentication failed: the credential is missing or unusable' }
      for (const path of ['/bearer', '/header', '/query', '/both']) {
        expect(await gateway.ask(path), `GET ${path}`).toMatchObject(refused)
      }
      const [accepted] = gateway.conditions('GwPolicy', 'backend-auth-both')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message: ['secretRef', 'credentials[0].secretRef']
          .map((field) => `spec.backend.auth.${field}: secret default/backend-keys not found`)
          .join('\n'),
      })
      expect(gateway.source.problems.map(({ path }) => path)).toEqual(
        expect.arrayContaining(['spec.backend.auth.secretRef', 'spec.backend.auth.credentials[0].secretRef']),
      )
    },
  },
  {
    shortName: 'BackendAuthCloudA',
    description: 'requests are signed for AWS with the keys of a Secret, which replaces the signature of the client',
    sample: SAMPLE,
    change: all(
      replacing('  second: second-key', '  second: second-key\n  accessKey: AKIAEXAMPLE\n  secretKey: planted-secret'),
      changing('GwPolicy/backend-auth-bearer', {
        backend: {
          auth: {
            secretRef: null,
            cloudA: { secretRef: { name: 'backend-keys' }, serviceName: 'execute-api', region: 'eu-west-1' },
          },
        },
      }),
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/bearer?a=1', { headers: { authorization: 'Bearer client' } })
      expect(headers['authorization']).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/eu-west-1\/execute-api\/aws4_request, SignedHeaders=/,
      )
      expect(headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/)
      expect(JSON.stringify(await gateway.dump())).not.toContain('planted-secret')
      expect(gateway.log()).not.toContain('planted-secret')
    },
  },
  {
    shortName: 'BackendAuthCloudsWithoutSecret',
    description:
      'no request is sent to Azure or Google Cloud if an entry of the Secret is missing or names another host',
    sample: SAMPLE,
    change: all(
      replacing(
        '  second: second-key',
        '  second: second-key\n  clientID: c\n  tenantID: t\n  credentials.json: \'{"type":"authorized_user","client_id":"c","client_secret":"planted-s","refresh_token":"planted-r","token_uri":"http://127.0.0.1/"}\'',
      ),
      changing('GwPolicy/backend-auth-bearer', {
        backend: { auth: { secretRef: null, cloudB: { secretRef: { name: 'backend-keys' } } } },
      }),
      changing('GwPolicy/backend-auth-header', {
        backend: { auth: { secretRef: null, location: null, cloudC: { secretRef: { name: 'backend-keys' } } } },
      }),
    ),
    async run(gateway) {
      const refused = { status: 500, text: 'backend authentication failed: the credential is missing or unusable' }
      const headers = { authorization: 'Bearer client' }
      for (const path of ['/bearer', '/header']) expect(await gateway.ask(path, { headers })).toMatchObject(refused)
      expect(gateway.conditions('GwPolicy', 'backend-auth-bearer')[0]).toMatchObject({
        reason: 'PartiallyValid',
        message: 'spec.backend.auth.cloudB.secretRef: secret default/backend-keys missing clientSecret value',
      })
      expect(gateway.conditions('GwPolicy', 'backend-auth-header')[0]?.message).toMatch(
        /^spec\.backend\.auth\.cloudC\.secretRef: the credential has a token_uri that is not an https URL/,
      )
      for (const output of [JSON.stringify(await gateway.dump()), gateway.log()])
        expect(output).not.toContain('planted')
    },
  },
  {
    shortName: 'BackendAuthLocations',
    description: 'credentials are sent with the prefix of the policy, in cookies, and several at once',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/backend-auth-bearer', {
        backend: {
          auth: { secretRef: null, key: 'inline-key', location: { header: { name: 'X-Key', prefix: 'Key ' } } },
        },
      }),
      changing('GwPolicy/backend-auth-header', {
        backend: { auth: { location: { header: null, cookie: { name: 'key' } } } },
      }),
      changing('GwPolicy/backend-auth-both', {
        backend: {
          auth: {
            credentials: [
              {
                secretRef: { name: 'backend-keys', key: 'second' },
                location: { header: { name: 'x-second', prefix: 'Second ' } },
              },
              { secretRef: { name: 'backend-keys', key: 'second' }, location: { queryParameter: { name: 'second' } } },
            ],
          },
        },
      }),
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/bearer', { headers: { 'x-key': 'client' } })
      expect(headers['x-key']).toBe('Key inline-key')
      expect(headers).not.toHaveProperty('authorization')
      const jar = await gateway.echo('/header', { headers: { cookie: 'key=client; theme=dark' } })
      expect(jar.headers['cookie']).toBe('theme=dark; key=second-key')
      const both = await gateway.echo('/both?a=1')
      expect(both.path).toBe('/both?a=1&second=second-key')
      expect(both.headers).toMatchObject({ authorization: 'Bearer main-key', 'x-second': 'Second second-key' })
      expect(JSON.stringify(await gateway.dump())).not.toContain('inline-key')
    },
  },
]
