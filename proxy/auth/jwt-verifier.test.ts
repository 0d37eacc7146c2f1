import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import type { JWTPayload } from 'jose'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import { JWT_BUSY, JwtVerifier, type JwtClaims } from './jwt-verifier.ts'
import { testIssuer, type TestIssuer } from './jwt.testing.ts'

const ISSUER = 'https://issuer.example'
const NOW_S = Math.floor(Date.now() / 1000)

/** Removes default members from tokens of tests. */
const NO_END = { exp: undefined } as unknown as JWTPayload

let issuer: TestIssuer
let other: TestIssuer

beforeAll(async () => {
  issuer = await testIssuer(ISSUER)
  other = await testIssuer('https://other.example', 'ES256', 'other-key')
})

const verifierOf = (audiences?: string[]): JwtVerifier =>
  new JwtVerifier([{ issuer: ISSUER, jwks: issuer.jwks, ...(audiences && { audiences }) }])

const claimsOf = (result: JwtClaims | string): JwtClaims => {
  if (typeof result === 'string') throw new Error(result)
  return result
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsigned = (header: unknown, claims: unknown = { iss: ISSUER, exp: NOW_S + 60 }): string =>
  `${part(header)}.${part(claims)}.AAAA`

describe('a valid token', () => {
  it.each<[string, string[] | undefined, JWTPayload, boolean]>([
    ['exp unless it is said otherwise', undefined, NO_END, false],
    ['what is listed', ['exp', 'tenant'], {}, false],
    ['what is listed, when it is there', ['exp', 'tenant'], { tenant: 'a' }, true],
    ['nothing', [], NO_END, true],
    ['nothing, but what is there must be right', [], { exp: NOW_S - 120 }, false],
  ])('must have %s', async (_, requiredClaims, claims, isValid) => {
    const provider = { ...issuer.provider, ...(requiredClaims && { requiredClaims }) }
    const result = await new JwtVerifier([provider]).verify(await issuer.token(claims))
    expect(typeof result === 'object').toBe(isValid)
  })

  it('provides its claims to expressions, and itself as a secret', async () => {
    const token = await issuer.token({ roles: ['a'], level: 3, tenants: { t: { id: 7 } }, rawToken: 'mine' })
    const claims = claimsOf(await verifierOf().verify(token))
    expect(claims).toMatchObject({ iss: ISSUER, sub: 'someone', roles: ['a'], level: 3n, tenants: { t: { id: 7n } } })
    const { rawToken } = claims
    expect(rawToken instanceof SecretString && rawToken.unredacted()).toBe(token)
    expect(inspect(claims)).not.toContain(token)
  })

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    '%s',
    async (alg) => {
      const own = await testIssuer(ISSUER, alg)
      const verifier = new JwtVerifier([own])
      expect(await verifier.verify(await own.token())).toMatchObject({ sub: 'someone' })
    },
  )

  it('is remembered: the second time it passes at once, with the same claims', async () => {
    const verifier = verifierOf()
    const token = await issuer.token()
    const first = verifier.verify(token)
    // Two at the same time: one check of the signature.
    expect(verifier.verify(token)).toBe(first)
    expect(first).toBeInstanceOf(Promise)
    expect(verifier.verify(token)).toBeInstanceOf(Promise)
    const claims = await first
    expect(verifier.verify(token)).toBe(claims)
  })

  it('may come from any issuer if the provider names none, but its key must be known', async () => {
    const verifier = new JwtVerifier([{ jwks: issuer.jwks, source: 'keys' }])
    expect(await verifier.verify(await issuer.token({ iss: 'https://elsewhere.example' }))).toMatchObject({
      iss: 'https://elsewhere.example',
    })
    const reported: string[] = []
    const reporting = new JwtVerifier([{ jwks: issuer.jwks, source: 'keys' }], {
      unknownKey: (key) => reported.push(key),
    })
    expect(await reporting.verify(await other.token())).toBe('unknown key')
    expect(reported).toEqual(['keys'])
  })

  it('is not remembered in another policy', async () => {
    const token = await issuer.token({ aud: 'a' })
    expect(await verifierOf(['a']).verify(token)).toMatchObject({ sub: 'someone' })
    expect(await verifierOf(['b']).verify(token)).toBe('audience not accepted')
  })
})

describe('claims', () => {
  it.each<[string, string[] | undefined, Record<string, unknown>, string | undefined]>([
    ['another issuer', undefined, { iss: 'https://evil.example' }, 'issuer not accepted'],
    ['issuer as a list', undefined, { iss: [ISSUER] }, 'issuer not accepted'],
    ['no issuer', undefined, { iss: undefined }, 'issuer not accepted'],
    ['any audience when none is configured', undefined, { aud: 'x' }, undefined],
    ['the audience', ['a', 'b'], { aud: 'b' }, undefined],
    ['one of several audiences', ['a', 'b'], { aud: ['x', 'a'] }, undefined],
    ['no common audience', ['a', 'b'], { aud: ['x', 'y'] }, 'audience not accepted'],
    ['no audience', ['a'], {}, 'audience not accepted'],
    ['part of an audience', ['abc'], { aud: 'ab' }, 'audience not accepted'],
    ['no exp', undefined, NO_END, 'missing or invalid claim'],
    ['exp as text', undefined, { exp: `${NOW_S + 60}` }, 'missing or invalid claim'],
    ['expired within the leeway', undefined, { exp: NOW_S - 30 }, undefined],
    ['expired', undefined, { exp: NOW_S - 120 }, 'token expired'],
    ['nbf within the leeway', undefined, { nbf: NOW_S + 30 }, undefined],
    ['nbf to come', undefined, { nbf: NOW_S + 120 }, 'token not yet valid'],
    ['nbf as text', undefined, { nbf: 'soon' }, 'missing or invalid claim'],
  ])('%s', async (_, audiences, claims, refusal) => {
    const result = await verifierOf(audiences).verify(await issuer.token(claims))
    if (refusal === undefined) expect(result).toMatchObject({ sub: 'someone' })
    else expect(result).toBe(refusal)
  })

  it('a remembered token is rejected after it expires', async () => {
    let nowMs = NOW_S * 1000
    const verifier = new JwtVerifier([issuer], { now: () => nowMs })
    const token = await issuer.token({ exp: NOW_S + 10 })
    const claims = await verifier.verify(token)
    nowMs += 9000
    expect(verifier.verify(token)).toBe(claims)
    // Within the leeway it is verified again each time.
    nowMs += 30_000
    for (let i = 0; i < 2; i++) {
      const again = verifier.verify(token)
      expect(again).toBeInstanceOf(Promise)
      expect(await again).toMatchObject({ sub: 'someone' })
    }
    nowMs += 40_000
    expect(await verifier.verify(token)).toBe('token expired')
  })
})

describe('keys', () => {
  it('are found over all issuers, and bound to their issuer', async () => {
    const verifier = new JwtVerifier([issuer, other])
    expect(await verifier.verify(await issuer.token())).toMatchObject({ iss: ISSUER })
    expect(await verifier.verify(await other.token())).toMatchObject({ iss: other.issuer })
    // The other issuer cannot sign for this one.
    expect(await verifier.verify(await other.token({ iss: ISSUER }))).toBe('issuer not accepted')
  })

  it('of two issuers may have the same kid', async () => {
    const twin = await testIssuer('https://twin.example', 'ES256', 'ES256-key')
    const verifier = new JwtVerifier([issuer, twin])
    expect(await verifier.verify(await twin.token())).toMatchObject({ iss: twin.issuer })
    expect(await verifier.verify(await issuer.token())).toMatchObject({ iss: ISSUER })
    expect(await verifier.verify(await twin.token({ iss: ISSUER }))).toBe('invalid signature')
  })

  it('of one issuer may serve two lists of audiences', async () => {
    const verifier = new JwtVerifier([
      { ...issuer, audiences: ['a'] },
      { ...issuer, audiences: ['b'] },
    ])
    expect(await verifier.verify(await issuer.token({ aud: 'b' }))).toMatchObject({ aud: 'b' })
    expect(await verifier.verify(await issuer.token({ aud: 'c' }))).toBe('audience not accepted')
  })

  it.each<[string, () => Promise<string> | string, string]>([
    ['no kid', () => issuer.token({}, { kid: undefined }), 'unknown key'],
    ['another kid', () => issuer.token({}, { kid: 'x' }), 'unknown key'],
    ['kid that is not a string', () => unsigned({ alg: 'ES256', kid: 1 }), 'unknown key'],
    ['kid of an object member', () => unsigned({ alg: 'ES256', kid: '__proto__' }), 'unknown key'],
    ['alg none', () => unsigned({ alg: 'none', kid: 'ES256-key' }), 'algorithm not allowed'],
    ['no alg', () => unsigned({ kid: 'ES256-key' }), 'algorithm not allowed'],
    ['another algorithm', () => unsigned({ alg: 'RS256', kid: 'ES256-key' }), 'algorithm not allowed'],
    ['a made-up signature', () => unsigned({ alg: 'ES256', kid: 'ES256-key' }), 'invalid signature'],
    [
      'an unknown critical header',
      () => unsigned({ alg: 'ES256', kid: 'ES256-key', crit: ['x'], x: 1 }),
      'malformed token',
    ],
    [
      'an unencoded payload',
      () => unsigned({ alg: 'ES256', kid: 'ES256-key', crit: ['b64'], b64: false }),
      'invalid signature',
    ],
    ['no JSON', () => 'AAAA.AAAA.AAAA', 'malformed token'],
    ['two parts', () => 'AAAA.AAAA', 'malformed token'],
    ['no signature', () => `${part({ alg: 'none', kid: 'ES256-key' })}.${part({})}.`, 'malformed token'],
    ['five parts', () => 'A.A.A.A.A', 'malformed token'],
    ['too long', () => `A.A.${'A'.repeat(65_536)}`, 'malformed token'],
  ])('%s', async (_, token, refusal) => {
    expect(await verifierOf().verify(await token())).toBe(refusal)
  })

  it('an HMAC with the public key as its secret is rejected', async () => {
    const rsa = await testIssuer(ISSUER, 'RS256', 'rsa')
    const head = `${part({ alg: 'HS256', kid: 'rsa' })}.${part({ iss: ISSUER, exp: NOW_S + 60 })}`
    const token = `${head}.${createHmac('sha256', rsa.jwks).update(head).digest('base64url')}`
    expect(new JwtVerifier([rsa]).verify(token)).toBe('algorithm not allowed')
  })

  it('a changed claim invalidates the signature', async () => {
    const [header, , signature] = (await issuer.token()).split('.')
    const token = `${header}.${part({ iss: ISSUER, sub: 'admin', exp: NOW_S + 60 })}.${signature}`
    expect(await verifierOf().verify(token)).toBe('invalid signature')
  })

  it.each([
    [
      { issuer: ISSUER, unavailable: 'jwks keyset for "http://x" is not available' },
      'issuer https://issuer.example: jwks keyset for "http://x" is not available',
    ],
    [{ issuer: ISSUER }, 'issuer https://issuer.example: it has no keys'],
    [{ issuer: ISSUER, jwks: 'x' }, 'issuer https://issuer.example: the key set is not JSON with a list `keys`'],
  ])('without usable keys: every token is rejected, and the reason is a warning', async (provider, warning) => {
    const verifier = new JwtVerifier([provider])
    expect(verifier.warnings).toEqual([warning, 'no usable key: every token is rejected'])
    expect(verifier.verify(await issuer.token())).toBe('unknown key')
  })
})

it.each([
  ['header', '['.repeat(40_000), '{}'],
  ['header of distinct objects', `{"kid":"ES256-key","alg":"ES256","a":${'[{},'.repeat(129)}`, '{}'],
  ['claims', JSON.stringify({ alg: 'ES256', kid: 'ES256-key' }), '['.repeat(40_000)],
])('a token with too many levels in its %s is rejected before it is parsed', (_, header, claims) => {
  const segments = [header, claims].map((text) => Buffer.from(text).toString('base64url'))
  const verifier = verifierOf()
  const parse = vi.spyOn(JSON, 'parse')
  const parsed: unknown[] = []
  try {
    expect(verifier.verify(`${segments.join('.')}.AAAA`)).toBe('malformed token')
    parsed.push(...parse.mock.calls)
  } finally {
    parse.mockRestore()
  }
  expect(parsed).toEqual([])
})

it('claims nested too deeply are rejected', async () => {
  const deep: unknown = JSON.parse(`${'['.repeat(300)}1${']'.repeat(300)}`)
  expect(await verifierOf().verify(await issuer.token({ deep }))).toBe('malformed token')
})

it('limits concurrent signature checks, and later tokens pass again', async () => {
  const verifier = verifierOf()
  const token = await issuer.token()
  const running = Array.from({ length: 1024 }, async (_, i) => {
    const [header, claims] = token.split('.')
    return verifier.verify(`${header}.${claims}.${Buffer.from(`forged ${i}`).toString('base64url')}`)
  })
  expect(verifier.verify(token)).toBe(JWT_BUSY)
  expect(new Set(await Promise.all(running))).toEqual(new Set(['invalid signature']))
  expect(await verifier.verify(token)).toMatchObject({ sub: 'someone' })
})

it('reports unknown keys: of this issuer only, at most every 10 s, and only if its keys are fetched', async () => {
  let nowMs = Date.now()
  const reported: string[] = []
  const own = await testIssuer('https://own.example')
  const rotated = await testIssuer('https://own.example', 'ES256', 'next')
  const inline = await testIssuer('https://inline.example')
  const verifier = new JwtVerifier([{ ...own.provider, source: 'own' }, inline.provider], {
    now: () => nowMs,
    unknownKey: (source) => reported.push(source),
  })
  expect(await verifier.verify(await own.token())).toMatchObject({ iss: 'https://own.example' })
  expect(await verifier.verify(await rotated.token({ iss: 'https://other.example' }))).toBe('unknown key')
  expect(await verifier.verify(await inline.token({}, { kid: 'x' }))).toBe('unknown key')
  expect(reported).toEqual([])
  for (let turn = 0; turn < 3; turn++) expect(await verifier.verify(await rotated.token())).toBe('unknown key')
  expect(reported).toEqual(['own'])
  nowMs += 9_999
  await verifier.verify(await rotated.token())
  expect(reported).toEqual(['own'])
  nowMs += 1
  await verifier.verify(await rotated.token())
  expect(reported).toEqual(['own', 'own'])
})
