// External authorization: calls a service for each request, or uses a cached decision (specification, ExtAuth). If the
// service cannot be called, the request is rejected, unless the policy allows it.
import type { ExtAuth, ExtAuthOrConditional } from '#api/ir/types.gen.ts'
import { ServiceError, type ServiceCaller } from '../../chain/service.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { HttpResponse } from '../../message/message.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { readsBody } from '../../cel/evaluate.ts'
import { DecisionCache } from './ext-auth/cache.ts'
import { applyDecision, type Decision } from './ext-auth/decision.ts'
import { grpcProtocol } from './ext-auth/grpc.ts'
import { httpProtocol } from './ext-auth/http.ts'
import type { Answer, AuthorizationProtocol, Question } from './ext-auth/protocol.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'

type Environment = Pick<ChainEnvironment, 'expression' | 'service'>

interface Compiled {
  readonly policy: ExtAuth
  readonly protocol: AuthorizationProtocol
  readonly service: ServiceCaller | undefined
  readonly cache: DecisionCache | undefined
}

export function compileExtAuth(payload: ExtAuthOrConditional, environment: Environment): CompiledPolicy {
  return 'conditional' in payload
    ? compileConditional(payload.conditional, environment, (policy) => compilePlainExtAuth(policy, environment))
    : compilePlainExtAuth(payload, environment)
}

export function compilePlainExtAuth(policy: ExtAuth, environment: Environment): CompiledPolicy {
  const { grpc = {}, http, service } = policy
  const protocol =
    http === undefined ? grpcProtocol(grpc, policy, environment) : httpProtocol(http, policy, environment)
  const compiled: Compiled = {
    policy,
    protocol,
    service: environment.service(service, 'ExtAuthz'),
    cache: cacheOf(policy, environment),
  }
  return {
    request: (exchange) => authorize(exchange, compiled),
    readsRequestBody: protocol.readsRequestBody || readsBody(compiled.cache?.expressions ?? [], 'request'),
  }
}

/** One cache for a policy, shared by all routes; dropped with the configuration. */
const caches = new WeakMap<ExtAuth, DecisionCache>()

function cacheOf(policy: ExtAuth, environment: Environment): DecisionCache | undefined {
  if (policy.cache === undefined) return undefined
  let cache = caches.get(policy)
  if (cache === undefined) {
    cache = new DecisionCache(policy.cache, environment)
    caches.set(policy, cache)
  }
  return cache
}

function authorize(exchange: Exchange, compiled: Compiled): Verdict | Promise<Verdict> {
  const { cache } = compiled
  const key = cache?.keyOf(exchange)
  if (cache === undefined || key === undefined) return ask(exchange, compiled, undefined)
  const known = cache.find(key, performance.now())
  if (known === undefined) return ask(exchange, compiled, { key })
  if (!('hit' in known)) return ask(exchange, compiled, { key, ...known })
  exchange.trace?.note('decision from the cache')
  return applyDecision(exchange, known.hit)
}

interface Remembering {
  readonly key: string
  readonly fallback?: Decision
  readonly settled?: () => void
}

async function ask(exchange: Exchange, compiled: Compiled, remembering: Remembering | undefined): Promise<Verdict> {
  const { policy } = compiled
  try {
    const body = policy.forwardBody === undefined ? undefined : await bodyOf(exchange, policy.forwardBody.bytesMax)
    if (body !== undefined && !Buffer.isBuffer(body)) return body
    const { decision, isCacheable } = await answerOf({ exchange, body }, compiled)
    const verdict = traced(exchange, applyDecision(exchange, decision))
    if (remembering !== undefined) remember(remembering.key, { decision, isCacheable }, exchange, compiled)
    return verdict
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const fallback = remembering?.fallback
    return fallback === undefined ? failed(exchange, policy, error.message) : applyDecision(exchange, fallback)
  } finally {
    remembering?.settled?.()
  }
}

function traced(exchange: Exchange, verdict: Verdict): Verdict {
  exchange.trace?.note(`the service ${verdict === undefined ? 'allows the request' : 'rejects the request'}`)
  return verdict
}

function answerOf(question: Question, { protocol, service }: Compiled): Promise<Answer> {
  if (service === undefined) throw new ServiceError('the authorization service does not exist')
  return protocol.ask(question, service)
}

function remember(key: string, { decision, isCacheable }: Answer, exchange: Exchange, { cache }: Compiled): void {
  if (isCacheable) cache?.store(key, decision, exchange, performance.now())
  else cache?.forget(key)
}

/** The whole body, which stays with the request; or the failure of the request. */
async function bodyOf(exchange: Exchange, bytesMax: number): Promise<Buffer | HttpResponse> {
  const { body } = exchange.request
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body.length > bytesMax ? exchange.fail('extAuthzBodyTooLarge') : body
  try {
    const whole = await body.tryCollect(bytesMax)
    if (whole === undefined) return exchange.fail('extAuthzBodyTooLarge', 'the body exceeds forwardBody.maxSize')
    exchange.request.body = whole
    return whole
  } catch (error) {
    return exchange.fail('invalidRequest', String(error))
  }
}

function failed(exchange: Exchange, policy: ExtAuth, detail: string): Verdict {
  if (exchange.deadlineMs !== undefined && performance.now() >= exchange.deadlineMs) {
    return exchange.fail('requestTimeout', `external authorization: ${detail}`)
  }
  if (policy.failureMode === 'FailOpen') {
    exchange.errorDetail = `external authorization was skipped: ${detail}`
    exchange.trace?.note('the service cannot be called, and failureMode is FailOpen')
    return undefined
  }
  const response = exchange.fail('extAuthzFailed', detail)
  if (policy.denyStatus !== undefined && !exchange.isGrpc) response.status = policy.denyStatus
  return response
}
