// Cost of a check of remembered credentials, and of a first signature: `node proxy/auth/bench.ts`.
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { compileApiKeyAuthentication } from '../policy/auth/api-key-authentication.ts'
import { compileBasicAuthentication } from '../policy/auth/basic-authentication.ts'
import { authEnvironment, exchangeOf } from '../policy/exchange.testing.ts'
import type { CompiledPolicy } from '../chain/filter.ts'
import { compileJwtAuthentication } from '../policy/auth/jwt-authentication.ts'
import { JwtVerifier } from './jwt-verifier.ts'

const CALLS = 200_000
const FIRST_CALLS = 2000
const ROUNDS = 5
const NANOS_PER_MICRO = 1000

const { publicKey, privateKey } = await generateKeyPair('ES256')
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] })
const provider = { issuer: 'https://issuer.example', jwks }
/** `groups` make it as long as tokens of company directories. */
const tokenFor = (subject: string, groups = 0): Promise<string> =>
  new SignJWT({
    roles: ['admin', 'reader'],
    scope: 'openid profile email',
    groups: Array.from({ length: groups }, (_, i) => `group-${i}-0123456789abcdef`),
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(provider.issuer)
    .setSubject(subject)
    .setExpirationTime('1h')
    .sign(privateKey)

const environment = authEnvironment({
  users: 'alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
  key: 'a-key-of-a-client-0123456789',
})
const token = await tokenFor('someone')
const longToken = await tokenFor('someone', 40)
const jwt = compileJwtAuthentication({ mode: 'Strict', providers: [provider] }, environment)
const cases: readonly (readonly [string, CompiledPolicy, string])[] = [
  [`jwt, cache hit (token of ${token.length} characters)`, jwt, `Bearer ${token}`],
  [`jwt, cache hit (token of ${longToken.length} characters)`, jwt, `Bearer ${longToken}`],
  [
    'basic, cache hit',
    compileBasicAuthentication({ mode: 'Strict', realm: 'r', users: { secret: 'users' } }, environment),
    `Basic ${Buffer.from('alice:password').toString('base64')}`,
  ],
  [
    'api key',
    compileApiKeyAuthentication({ mode: 'Strict', keys: [{ secret: 'key' }] }, environment),
    'Bearer a-key-of-a-client-0123456789',
  ],
]

for (const [name, policy, authorization] of cases) {
  const exchange = exchangeOf({
    headers: [
      ['user-agent', 'bench'],
      ['accept', '*/*'],
    ],
  })
  exchange.request.headers.set('authorization', authorization)
  if ((await policy.request?.(exchange)) !== undefined) throw new Error(`${name}: refused`)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < CALLS; i++) {
      exchange.attributes = undefined
      exchange.request.headers.set('authorization', authorization)
      if (policy.request?.(exchange) !== undefined) throw new Error(`${name}: not answered at once`)
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / CALLS)
  }
  console.log(`${name}: ${(best / NANOS_PER_MICRO).toFixed(2)} µs`)
}

const tokens = await Promise.all(Array.from({ length: FIRST_CALLS }, (_, i) => tokenFor(`user-${i}`)))
const verifier = new JwtVerifier([provider])
const cpu = process.cpuUsage()
for (const each of tokens) {
  if (typeof (await verifier.verify(each)) === 'string') throw new Error('refused')
}
const { user, system } = process.cpuUsage(cpu)
console.log(`jwt, first use, ES256: ${((user + system) / FIRST_CALLS).toFixed(0)} µs of processor time`)
