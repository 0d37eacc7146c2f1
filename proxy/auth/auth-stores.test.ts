import { describe, expect, it } from 'vitest'
import type { JwtAuthentication, RenderedConfig, TrafficPayload } from '#api/ir/types.gen.ts'
import { configFor } from '#proxy/main.testing.ts'
import { AuthStores } from './auth-stores.ts'
import { testIssuer } from './jwt.testing.ts'

const SHA1 = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='

const configWith = (...payloads: TrafficPayload[]): RenderedConfig =>
  configFor(80, {
    routes: [],
    policies: payloads.map((traffic, i) => ({
      key: `policy-${i}`,
      name: { kind: 'GwPolicy', namespace: 'ns', name: `p${i}` },
      target: { gateway: { namespace: 'ns', name: 'gw' } },
      policy: { traffic },
    })),
  })
const secretsOf = (values: Readonly<Record<string, string>>) => (ref: { secret: string }) => values[ref.secret]
const noSecrets = secretsOf({})

describe('sharing', () => {
  it('policies with the same keys share one store, whatever their mode', async () => {
    const issuer = await testIssuer('https://issuer.example')
    const strict: JwtAuthentication = { mode: 'Strict', providers: [issuer.provider] }
    const optional: JwtAuthentication = {
      mode: 'Optional',
      providers: [{ ...issuer.provider }],
      location: { cookie: { name: 't' } },
    }
    const narrow: JwtAuthentication = { mode: 'Strict', providers: [{ ...issuer.provider, audiences: ['a'] }] }
    const stores = AuthStores.of(configWith({ jwtAuthentication: strict }), { secret: noSecrets, former: undefined })
    expect(stores.jwt(strict)).toBe(stores.jwt(optional))
    expect(stores.jwt(strict)).not.toBe(stores.jwt(narrow))
  })

  it('the next configuration keeps the stores that it still uses, and no others', async () => {
    const issuer = await testIssuer('https://issuer.example')
    const jwtAuthentication: JwtAuthentication = { mode: 'Strict', providers: [issuer.provider] }
    const first = AuthStores.of(configWith({ jwtAuthentication }), { secret: noSecrets, former: undefined })
    const verifier = first.jwt(jwtAuthentication)
    const token = await issuer.token()
    const claims = await verifier.verify(token)

    const second = AuthStores.of(configWith({ jwtAuthentication: structuredClone(jwtAuthentication) }), {
      secret: noSecrets,
      former: first,
    })
    expect(second.jwt(jwtAuthentication)).toBe(verifier)
    expect(second.jwt(jwtAuthentication).verify(token)).toBe(claims)

    const without = AuthStores.of(configWith(), { secret: noSecrets, former: second })
    expect(without.jwt(jwtAuthentication)).not.toBe(verifier)

    const rotated = await testIssuer('https://issuer.example')
    const changed: JwtAuthentication = { ...jwtAuthentication, providers: [rotated.provider] }
    const third = AuthStores.of(configWith({ jwtAuthentication: changed }), { secret: noSecrets, former: second })
    expect(await third.jwt(changed).verify(token)).toBe('invalid signature')
  })

  it('a changed secret creates another store', () => {
    const basicAuthentication = { mode: 'Strict', realm: 'r', users: { secret: 'u' } } as const
    const apiKey = { mode: 'Strict', keys: [{ secret: 'k' }] } as const
    const config = configWith({ basicAuthentication, apiKeyAuthentication: { ...apiKey, keys: [...apiKey.keys] } })
    const first = AuthStores.of(config, { secret: secretsOf({ u: `alice:${SHA1}`, k: 'one' }), former: undefined })
    expect(first.basic(basicAuthentication).check('alice', 'password')).toBe(true)
    const same = AuthStores.of(config, { secret: secretsOf({ u: `alice:${SHA1}`, k: 'one' }), former: first })
    const key = { mode: 'Strict' as const, keys: [{ secret: 'k' }] }
    expect([same.basic(basicAuthentication), same.apiKey(key)]).toEqual([
      first.basic(basicAuthentication),
      first.apiKey(key),
    ])
    expect(same.basic(basicAuthentication)).toBe(first.basic(basicAuthentication))
    const next = AuthStores.of(config, { secret: secretsOf({ u: `bob:${SHA1}`, k: 'two' }), former: same })
    expect(next.basic(basicAuthentication).check('alice', 'password')).toBe(false)
    expect([next.apiKey(key).find('one'), next.apiKey(key).find('two')]).toMatchObject([undefined, {}])
  })
})

it('warns with the policy and the reason, never with the content of a secret', () => {
  const config = configWith(
    { jwtAuthentication: { mode: 'Strict', providers: [{ issuer: 'i', unavailable: 'not fetched' }] } },
    {
      basicAuthentication: { mode: 'Strict', realm: 'r', users: { secret: 'ns/u' } },
      apiKeyAuthentication: { mode: 'Strict', keys: [{ secret: 'ns/k' }, { secret: 'ns/none' }] },
    },
  )
  const { warnings } = AuthStores.of(config, {
    secret: secretsOf({ 'ns/u': 'alice:hunter2', 'ns/k': '{"hunter2"' }),
    former: undefined,
  })
  expect(warnings).toEqual([
    'policy-0: jwtAuthentication: issuer i: not fetched',
    'policy-0: jwtAuthentication: no usable key: every token is rejected',
    'policy-1: basicAuthentication: line 1 is ignored: its hash is not bcrypt, MD5 (`$apr1$`), SHA-1 (`{SHA}`) or crypt (also `$5$`, `$6$`)',
    'policy-1: basicAuthentication: no users: all credentials are rejected',
    'policy-1: apiKeyAuthentication: API key ns/k is not used: it starts like JSON but is not valid JSON',
    'policy-1: apiKeyAuthentication: API key ns/none is not used: its secret is missing',
    'policy-1: apiKeyAuthentication: no usable API key: every key is rejected',
  ])
})
