import { describe, expect, it } from 'vitest'
import type { JwtAuth, RenderedConfig, TrafficPayload } from '#api/ir/types.gen.ts'
import { configFor } from '#test/proxy.ts'
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
  it('policies with the same keys have one store, whatever their mode', async () => {
    const issuer = await testIssuer('https://issuer.example')
    const strict: JwtAuth = { mode: 'Strict', providers: [issuer.provider] }
    const optional: JwtAuth = {
      mode: 'Optional',
      providers: [{ ...issuer.provider }],
      location: { cookie: { name: 't' } },
    }
    const narrow: JwtAuth = { mode: 'Strict', providers: [{ ...issuer.provider, audiences: ['a'] }] }
    const stores = AuthStores.of(configWith({ jwtAuth: strict }), { secret: noSecrets, former: undefined })
    expect(stores.jwt(strict)).toBe(stores.jwt(optional))
    expect(stores.jwt(strict)).not.toBe(stores.jwt(narrow))
  })

  it('the next configuration keeps what it still has, and nothing else', async () => {
    const issuer = await testIssuer('https://issuer.example')
    const jwtAuth: JwtAuth = { mode: 'Strict', providers: [issuer.provider] }
    const first = AuthStores.of(configWith({ jwtAuth }), { secret: noSecrets, former: undefined })
    const verifier = first.jwt(jwtAuth)
    const token = await issuer.token()
    const claims = await verifier.verify(token)

    const second = AuthStores.of(configWith({ jwtAuth: structuredClone(jwtAuth) }), {
      secret: noSecrets,
      former: first,
    })
    expect(second.jwt(jwtAuth)).toBe(verifier)
    expect(second.jwt(jwtAuth).verify(token)).toBe(claims)

    const without = AuthStores.of(configWith(), { secret: noSecrets, former: second })
    expect(without.jwt(jwtAuth)).not.toBe(verifier)

    const rotated = await testIssuer('https://issuer.example')
    const changed: JwtAuth = { ...jwtAuth, providers: [rotated.provider] }
    const third = AuthStores.of(configWith({ jwtAuth: changed }), { secret: noSecrets, former: second })
    expect(await third.jwt(changed).verify(token)).toBe('invalid signature')
  })

  it('a changed secret is another store', () => {
    const basicAuth = { mode: 'Strict', realm: 'r', users: { secret: 'u' } } as const
    const apiKey = { mode: 'Strict', keys: [{ secret: 'k' }] } as const
    const config = configWith({ basicAuth, apiKey: { ...apiKey, keys: [...apiKey.keys] } })
    const first = AuthStores.of(config, { secret: secretsOf({ u: `alice:${SHA1}`, k: 'one' }), former: undefined })
    expect(first.basic(basicAuth).check('alice', 'password')).toBe(true)
    const same = AuthStores.of(config, { secret: secretsOf({ u: `alice:${SHA1}`, k: 'one' }), former: first })
    const key = { mode: 'Strict' as const, keys: [{ secret: 'k' }] }
    expect([same.basic(basicAuth), same.apiKey(key)]).toEqual([first.basic(basicAuth), first.apiKey(key)])
    expect(same.basic(basicAuth)).toBe(first.basic(basicAuth))
    const next = AuthStores.of(config, { secret: secretsOf({ u: `bob:${SHA1}`, k: 'two' }), former: same })
    expect(next.basic(basicAuth).check('alice', 'password')).toBe(false)
    expect([next.apiKey(key).find('one'), next.apiKey(key).find('two')]).toMatchObject([undefined, {}])
  })
})

it('warns with the policy and the reason, never with what a secret holds', () => {
  const config = configWith(
    { jwtAuth: { mode: 'Strict', providers: [{ issuer: 'i', unavailable: 'not fetched' }] } },
    {
      basicAuth: { mode: 'Strict', realm: 'r', users: { secret: 'ns/u' } },
      apiKey: { mode: 'Strict', keys: [{ secret: 'ns/k' }, { secret: 'ns/none' }] },
    },
  )
  const { warnings } = AuthStores.of(config, {
    secret: secretsOf({ 'ns/u': 'alice:hunter2', 'ns/k': '{"hunter2"' }),
    former: undefined,
  })
  expect(warnings).toEqual([
    'policy-0: jwtAuth: issuer i: not fetched',
    'policy-0: jwtAuth: no usable key: no token is valid',
    'policy-1: basicAuth: line 1 is not used: its hash is not bcrypt, MD5 (`$apr1$`), SHA-1 (`{SHA}`) or crypt (also `$5$`, `$6$`)',
    'policy-1: basicAuth: no user: no credentials are valid',
    'policy-1: apiKey: API key ns/k is not used: it begins as JSON and is none',
    'policy-1: apiKey: API key ns/none is not used: its secret is missing',
    'policy-1: apiKey: no usable API key: no key is valid',
  ])
})
