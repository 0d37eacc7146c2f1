// Processor time that oauthTokenExchange adds to a request whose token is kept, with a subject token of 1 KiB.
// Run: node proxy/credentials/bench/oauth-token-exchange.ts [requests]
import type { OAuthTokenExchange } from '#api/ir/types.gen.ts'
import { compileBackendAuth } from '../../backend/auth.ts'
import type { AuthEnvironment } from '../../backend/auth/kind.ts'
import { exchangeOf, expression, upstreamResponse } from '../../policy/exchange.testing.ts'
import { WorkerTokenStore } from '../token-store.ts'

const REQUESTS = Number(process.argv[2] ?? 20_000)
const SUBJECTS = 1000
const SUBJECT_BYTES = 1024

const jwt = (claims: object): string => {
  const padded = { ...claims, pad: 'x'.repeat(SUBJECT_BYTES) }
  return ['h', Buffer.from(JSON.stringify(padded)).toString('base64url'), 's'].join('.').slice(-SUBJECT_BYTES)
}
const subjects = Array.from({ length: SUBJECTS }, (_, index) => `${index}.${jwt({ sub: 'someone' })}`)

const answer = { access_token: 'a'.repeat(800), token_type: 'Bearer', expires_in: 3600 }
const caller = { http: () => Promise.resolve(upstreamResponse([], Buffer.from(JSON.stringify(answer)))) }

function filterOf(more: Partial<OAuthTokenExchange>): (subject: string) => unknown {
  // What the kind does not use is left out.
  const environment = {
    tokens: new WorkerTokenStore(),
    expression,
    secret: () => 'secret',
    service: () => caller,
  } as unknown as AuthEnvironment
  const policy: OAuthTokenExchange = {
    service: { backend: 'sts' },
    path: '/token',
    grantType: 'TokenExchange',
    subjectToken: { tokenType: 'AccessToken' },
    clientAuth: { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: { secret: 's' } },
    ...more,
  }
  const { request } = compileBackendAuth({ oauthTokenExchange: policy }, environment)
  return (subject) =>
    request?.(
      exchangeOf({
        headers: [
          ['authorization', `Bearer ${subject}`],
          ['x-tenant', 'shop'],
        ],
      }),
    )
}

/** Microseconds for each request. */
function measure(run: (subject: string) => unknown): number {
  const start = process.cpuUsage()
  for (let done = 0; done < REQUESTS; done++) run(subjects[done % SUBJECTS] ?? '')
  const { user, system } = process.cpuUsage(start)
  return (user + system) / REQUESTS
}

const EMPTY = (subject: string): unknown =>
  exchangeOf({
    headers: [
      ['authorization', `Bearer ${subject}`],
      ['x-tenant', 'shop'],
    ],
  })
const params = [{ name: 'tenant', expression: 'request.headers["x-tenant"]' }]
for (const [name, more] of [
  ['a subject', {}],
  ['a subject and a parameter', { additionalParams: params }],
] as const) {
  const run = filterOf(more)
  for (const subject of subjects) await run(subject)
  const rounds: number[] = []
  for (let round = 0; round < 7; round++) rounds.push(measure(run) - measure(EMPTY))
  rounds.sort((a, b) => a - b)
  console.log(`${rounds[3]?.toFixed(1)} µs of processor time for each request with ${name} (median of 7)`)
}
