// Time of one call of the filters that run on most requests: `node proxy/policy/bench.ts`.
import type { Exchange } from '../exchange/exchange.ts'
import { compileAuthorization } from './auth/authorization.ts'
import { compileCors } from './browser/cors.ts'
import { compileCsrf } from './browser/csrf.ts'
import { environmentOf, exchangeOf, type ExchangeParts } from './exchange.testing.ts'
import type { CompiledPolicy } from '../chain/filter.ts'
import { compileRequestHeaderModifier } from './rewrite/header-modifiers.ts'
import { compileRateLimit } from './limits/rate-limit.ts'
import { compileTransformation } from './rewrite/transformation.ts'

const CALLS = 300_000
const ROUNDS = 3

const HEADERS: [string, string][] = [
  ['user-agent', 'bench'],
  ['accept', '*/*'],
  ['content-type', 'application/json'],
  ['x-request-id', '0123456789'],
]
const LIMIT = { unit: 'Requests', tokensPerFill: 2e9, fillIntervalMs: 1000, tokensMax: 2e9 } as const

const cors = compileCors({ allowOrigins: ['https://a.com', 'https://*.b.com'], allowMethods: ['GET'] })
const csrf = compileCsrf({ additionalOrigins: ['https://partner.org'] })
const environment = environmentOf({ limits: [LIMIT] })
const rule = (expression: string) =>
  compileAuthorization([{ action: 'Allow', matchExpressions: [expression] }], environment)

const cases: readonly (readonly [string, CompiledPolicy, ExchangeParts])[] = [
  ['cors, no origin', cors, {}],
  ['cors, listed origin', cors, { headers: [...HEADERS, ['origin', 'https://a.com']] }],
  ['cors, wildcard origin', cors, { headers: [...HEADERS, ['origin', 'https://x.b.com']] }],
  ['csrf, GET', csrf, {}],
  [
    'csrf, POST with Sec-Fetch-Site',
    csrf,
    { method: 'POST', headers: [...HEADERS, ['sec-fetch-site', 'same-origin']] },
  ],
  ['csrf, POST with Origin', csrf, { method: 'POST', headers: [...HEADERS, ['origin', 'http://example.com']] }],
  ['authorization, method', rule('request.method == "GET"'), {}],
  ['authorization, header and path', rule('request.headers["x-request-id"] != "" && request.path.startsWith("/")'), {}],
  ['local rate limit', compileRateLimit({ limits: [LIMIT] }, environment), {}],
  ['header modifier, set one', compileRequestHeaderModifier({ set: [{ name: 'x-a', value: '1' }] }), {}],
  [
    'transformation, set one',
    compileTransformation({ request: { set: [{ name: 'x-a', expression: 'request.path' }] } }, environment),
    {},
  ],
]

/** A new exchange for each call: results of one call must not make the next one cheaper. */
function reset(exchange: Exchange): void {
  exchange.variables = undefined
  exchange.queuedResponseHeaders = undefined
  exchange.rateLimit = undefined
}

for (const [name, policy, parts] of cases) {
  const exchange = exchangeOf({ headers: HEADERS, ...parts })
  let best = Number.POSITIVE_INFINITY
  let refused = 0
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < CALLS; i++) {
      reset(exchange)
      if (policy.request?.(exchange) !== undefined) refused++
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / CALLS)
  }
  console.log(`${name}: ${best.toFixed(0)} ns${refused === 0 ? '' : ` (${refused} refused)`}`)
}
