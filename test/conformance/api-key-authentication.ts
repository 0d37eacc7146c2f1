// traffic.apiKeyAuthentication: keys of Secrets, hashes of ConfigMaps; raw keys of ConfigMaps are ignored.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'api-key-authentication.yaml'
const HASH = '{"keyHash": "sha256:b2cfb5518f033861ee2dd12be0f7c0b95c23d0b8d1f4c32c8a788f77bc8a52be"}'

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ApiKeyStrict',
    description: 'a key of the Secret is accepted and removed, and other policies can use its metadata',
    sample: SAMPLE,
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', bearer('second-key'))
      expect(headers['x-team']).toBe('web')
      expect(headers).not.toHaveProperty('authorization')
      expect((await gateway.echo('/strict', bearer('first-key'))).headers).not.toHaveProperty('x-team')
      for (const question of [{}, bearer('third-key'), bearer('alice')]) {
        expect((await gateway.ask('/strict', question)).status).toBe(401)
      }
    },
  },
  {
    shortName: 'ApiKeyHash',
    description: 'a key whose hash is in a ConfigMap is accepted in the header of the policy',
    sample: SAMPLE,
    async run(gateway) {
      const { headers } = await gateway.echo('/header', { headers: { 'x-api-key': 'robot-key' } })
      expect(headers).not.toHaveProperty('x-api-key')
      expect((await gateway.ask('/header', bearer('robot-key'))).status).toBe(401)
      expect((await gateway.ask('/header', { headers: { 'x-api-key': 'first-key' } })).status).toBe(401)
    },
  },
  {
    shortName: 'ApiKeyOptional',
    description: 'a request without a key passes, an unknown key is rejected',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.echo('/optional')
      await gateway.echo('/optional', bearer('first-key'))
      expect((await gateway.ask('/optional', bearer('unknown'))).status).toBe(401)
    },
  },
  {
    shortName: 'ApiKeysStaySecret',
    description: 'the dump contains no key of a Secret',
    sample: SAMPLE,
    async run(gateway) {
      const dump = JSON.stringify(await gateway.dump())
      for (const secret of ['first-key', 'second-key']) expect(dump).not.toContain(secret)
    },
  },
  {
    shortName: 'ApiKeyRawInConfigMap',
    description: 'a raw key in a ConfigMap is not used; the status names the entry, not the key',
    sample: SAMPLE,
    change: replacing(HASH, 'robot-key'),
    async run(gateway) {
      expect((await gateway.ask('/header', { headers: { 'x-api-key': 'robot-key' } })).status).toBe(401)
      const [accepted] = gateway.conditions('GwPolicy', 'api-key-authentication-header')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('configmap default/api-key-hashes entry robot contains a raw key')
      expect(accepted?.message).not.toContain('robot-key')
    },
  },
  {
    shortName: 'ApiKeyMissingSecret',
    description: 'without the Secret every key is rejected',
    sample: SAMPLE,
    change: replacing('kind: Secret\nmetadata:\n  name: api-keys', 'kind: Secret\nmetadata:\n  name: other-keys'),
    async run(gateway) {
      expect((await gateway.ask('/strict', bearer('first-key'))).status).toBe(401)
      const [accepted] = gateway.conditions('GwPolicy', 'api-key-authentication-strict')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message: 'spec.traffic.apiKeyAuthentication.secretRef: secret default/api-keys not found',
      })
    },
  },
  {
    shortName: 'ApiKeyLocations',
    description: 'keys are read from a header with a prefix, the query, a cookie, or by an expression, and removed',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/api-key-authentication-strict', {
        traffic: {
          apiKeyAuthentication: { mode: 'Strict', location: { header: { name: 'X-Key', prefix: 'Key ' } } },
        },
      }),
      changing('GwPolicy/api-key-authentication-header', {
        traffic: { apiKeyAuthentication: { location: { header: null, queryParameter: { name: 'key' } } } },
      }),
      changing('GwPolicy/api-key-authentication-optional', {
        traffic: { apiKeyAuthentication: { location: { cookie: { name: 'key' } } } },
      }),
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', { headers: { 'x-key': 'Key second-key' } })
      expect(headers['x-team']).toBe('web')
      expect(headers).not.toHaveProperty('x-key')
      for (const question of [bearer('second-key'), { headers: { 'x-key': 'second-key' } }]) {
        expect((await gateway.ask('/strict', question)).status).toBe(401)
      }
      expect((await gateway.echo('/header?key=robot-key&a=1')).path).toBe('/header?a=1')
      expect((await gateway.ask('/header?key=first-key')).status).toBe(401)
      const jar = (key: string) => ({ headers: { cookie: `key=${key}; theme=dark` } })
      expect((await gateway.echo('/optional', jar('first-key'))).headers['cookie']).toBe('theme=dark')
      expect((await gateway.ask('/optional', jar('unknown'))).status).toBe(401)
    },
  },
  {
    shortName: 'ApiKeyExpression',
    description: 'Permissive rejects no request; an expression may find the key, and labels select Secrets',
    sample: SAMPLE,
    change: all(
      replacing(
        '  name: api-keys\n  namespace: default\n',
        '  name: api-keys\n  namespace: default\n  labels: {keys: web}\n',
      ),
      changing('GwPolicy/api-key-authentication-strict', {
        traffic: {
          apiKeyAuthentication: {
            mode: 'Permissive',
            secretRef: null,
            secretSelector: { matchLabels: { keys: 'web' } },
            location: { expression: 'request.headers["x-signed"].split(":")[1]' },
          },
        },
      }),
    ),
    async run(gateway) {
      const teamOf = async (signed: string): Promise<string | undefined> =>
        (await gateway.echo('/strict', { headers: { 'x-signed': signed } })).headers['x-team']
      expect(await teamOf('v1:second-key')).toBe('web')
      expect(await teamOf('v1:unknown')).toBeUndefined()
      await gateway.echo('/strict')
    },
  },
]
