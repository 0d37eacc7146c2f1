// Global rate limits: calls a rate limit service (data-plane supplement section 7.5). Requests are charged before
// they are forwarded; LLM tokens after the response, by a call that does not delay it. A prompt that is counted before
// it is sent has a call of its own.
import { create } from '@bufbuild/protobuf'
import type { CelExpression } from '#api/cel/expression.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import type { RateLimitDescriptor, RateLimitGlobal, RateLimitGlobalOrConditional } from '#api/ir/types.gen.ts'
import { ServiceError, type ServiceCaller } from '../../chain/service.ts'
import type { HeaderValue } from '../../envoy/gen/envoy/config/core/v3/base.gen.ts'
import {
  RateLimitDescriptor_EntrySchema,
  RateLimitDescriptorSchema,
  type RateLimitDescriptor as DescriptorMessage,
  type RateLimitDescriptor_Entry,
} from '../../envoy/gen/envoy/extensions/common/ratelimit/v3/ratelimit.gen.ts'
import {
  RateLimitRequestSchema,
  RateLimitResponse_Code,
  RateLimitService,
  type RateLimitResponse,
} from '../../envoy/gen/envoy/service/ratelimit/v3/rls.gen.ts'
import { RateLimitUnit } from '../../envoy/gen/envoy/type/v3/ratelimit_unit.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderList } from '../../message/headers.ts'
import { isToken } from '../../message/field-name.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { PolicyEnvironment } from '../../chain/environment.ts'
import { isOutOfSteps, OUT_OF_STEPS } from '../../cel/budget.ts'
import { evaluate, FAILED, readsBody, textOf } from '../../cel/evaluate.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'
import { fieldValue, isFramingField } from '../../message/header-field.ts'
import { type LimitState, noteLimitCall } from '../../exchange/limit-calls.ts'
import type { TokenLimit } from '../../exchange/slots.ts'
import { type IdentifiedLimit, identifiedLimits, isVerified } from './limit-identity.ts'
import { addRateLimitHeaders, noteRateLimit, refusal } from './rate-limit-headers.ts'
import { usedTokens } from './used-tokens.ts'

type Environment = Pick<PolicyEnvironment, 'expression' | 'service' | 'policyKey'>

/** Limit of concurrent calls after responses; further calls are dropped: a slow service must not fill the memory. */
const CHARGES_MAX = 1024
const UINT32_MAX = 4_294_967_295

type Entries = RateLimitDescriptor_Entry[]

interface Descriptor {
  /** Its values may be shown. */
  readonly isShown: boolean
  readonly isTokens: boolean
  readonly entries: readonly { readonly name: string; readonly expression: CelExpression }[]
  readonly cost: CelExpression | undefined
  readonly limit: { readonly requestsPerUnit: number; readonly unit: RateLimitUnit } | undefined
}

interface Compiled extends TokenLimit<Exchange> {
  /** See `limitId`. */
  readonly id: string
  readonly policy: RateLimitGlobal
  readonly service: ServiceCaller | undefined
  readonly descriptors: readonly Descriptor[]
  runningCharges: number
}

/** Of a request that the policy let pass. */
interface Passed {
  /** By descriptor; undefined: it is not for tokens, or has no values so far. */
  readonly entries: readonly (Entries | undefined)[]
  /** Tokens of the prompt that are charged already. */
  promptTokens: number
}

const UNITS = {
  Second: RateLimitUnit.SECOND,
  Minute: RateLimitUnit.MINUTE,
  Hour: RateLimitUnit.HOUR,
  Day: RateLimitUnit.DAY,
  Month: RateLimitUnit.MONTH,
  Year: RateLimitUnit.YEAR,
} as const

export function compileRateLimitGlobal(
  payload: RateLimitGlobalOrConditional,
  environment: Environment,
): CompiledPolicy {
  const entries = identifiedLimits(environment.policyKey, payload)
  const [only] = entries
  return 'conditional' in payload || only === undefined
    ? compileConditional(entries, environment, (limit) => compilePlain(limit, environment))
    : compilePlain(only.policy, environment)
}

function compilePlain({ id, policy }: IdentifiedLimit, environment: Environment): CompiledPolicy {
  const descriptors = policy.descriptors.map((descriptor) => compileDescriptor(descriptor, environment))
  const compiled: Compiled = {
    id,
    policy,
    service: environment.service(policy.service, 'RateLimit'),
    descriptors,
    runningCharges: 0,
    chargePrompt: (exchange, tokens) => chargePrompt(exchange, compiled, tokens),
  }
  const expressions = descriptors.flatMap(({ entries, cost }) => [...entries.map(({ expression }) => expression), cost])
  return {
    request: (exchange) => limit(exchange, compiled),
    response: addRateLimitHeaders,
    ...(descriptors.some(({ isTokens }) => isTokens)
      ? { finished: (exchange: Exchange) => charge(exchange, compiled) }
      : {}),
    readsRequestBody: readsBody(expressions, 'request'),
  }
}

function compileDescriptor(
  { unit, entries, cost, limitOverride }: RateLimitDescriptor,
  { expression }: Pick<PolicyEnvironment, 'expression'>,
): Descriptor {
  const compiled = entries.map((entry) => ({ name: entry.name, expression: expression(entry.expression) }))
  return {
    isShown: compiled.every((entry) => isVerified(entry.expression)),
    isTokens: unit === 'Tokens',
    entries: compiled,
    cost: cost === undefined ? undefined : expression(cost),
    limit:
      limitOverride === undefined
        ? undefined
        : { requestsPerUnit: limitOverride.requestsPerUnit, unit: UNITS[limitOverride.unit] },
  }
}

function limit(exchange: Exchange, compiled: Compiled): Verdict | Promise<Verdict> {
  const messages: Sent[] = []
  // Backend policies may change the values of the entries; the later charge must use the same counter.
  const evaluated: (Entries | undefined)[] = []
  for (const [index, descriptor] of compiled.descriptors.entries()) {
    const entries = entriesOf(descriptor, exchange)
    evaluated.push(descriptor.isTokens ? entries : undefined)
    // Tokens are counted later: now the service only checks whether any are left.
    const hits = descriptor.isTokens ? 0 : requestCost(descriptor, exchange)
    if (entries !== undefined) messages.push({ index, message: messageOf(descriptor, entries, hits) })
  }
  const passed: Passed = { entries: evaluated, promptTokens: 0 }
  ;(exchange.policyState ??= new Map()).set(compiled, passed)
  if (evaluated.some((entries) => entries !== undefined)) (exchange.tokenLimits ??= []).push(compiled)
  // A descriptor that was dropped because of its cost must not make the request free.
  if (isOutOfSteps(exchange)) return failed(exchange, compiled, OUT_OF_STEPS)
  if (messages.length > 0) return ask(exchange, compiled, { messages, promptTokens: 0 })
  exchange.trace?.skip('no descriptor has all its values: the service is not called')
  return undefined
}

/** `index`: of the descriptor in the policy. */
interface Sent {
  readonly index: number
  readonly message: DescriptorMessage
}

interface Question {
  readonly messages: readonly Sent[]
  /** Charged with them. */
  readonly promptTokens: number
}

async function ask(exchange: Exchange, compiled: Compiled, { messages, promptTokens }: Question): Promise<Verdict> {
  try {
    const descriptors = messages.map(({ message }) => message)
    const response = await call(exchange, compiled, { descriptors, isDetached: false })
    const verdict = applied(exchange, response)
    const result = verdict === undefined ? 'allowed' : 'rejected'
    noteLimitCall(exchange, compiled.id, { result, states: statesOf(compiled, messages, response) })
    if (exchange.trace !== undefined) exchange.trace.note(`descriptors sent: ${descriptors.map(namesOf).join('; ')}`)
    const passed = passedOf(exchange, compiled)
    if (passed !== undefined) passed.promptTokens = promptTokens
    // Rejected requests cost no tokens.
    if (verdict !== undefined) exchange.policyState?.delete(compiled)
    return verdict
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return failed(exchange, compiled, error.message)
  }
}

/** A cost replaces the tokens of the call, so that those of the prompt are not charged either. */
function chargePrompt(exchange: Exchange, compiled: Compiled, tokens: number): Verdict | Promise<Verdict> {
  const passed = passedOf(exchange, compiled)
  const messages = compiled.descriptors.flatMap((descriptor, i) => {
    const entries = descriptor.cost === undefined ? passed?.entries[i] : undefined
    if (entries === undefined) return []
    return [{ index: i, message: messageOf(descriptor, entries, Math.min(tokens, UINT32_MAX)) }]
  })
  return messages.length === 0 ? undefined : ask(exchange, compiled, { messages, promptTokens: tokens })
}

function passedOf(exchange: Exchange, compiled: Compiled): Passed | undefined {
  // Only `limit` writes under this key.
  return exchange.policyState?.get(compiled) as Passed | undefined
}

/** Without values, which may contain anything from a client. */
function namesOf({ entries }: DescriptorMessage): string {
  return entries.map(({ key }) => key).join(', ')
}

function call(
  exchange: Exchange,
  { policy, service }: Compiled,
  { descriptors, isDetached }: { descriptors: DescriptorMessage[]; isDetached: boolean },
): Promise<RateLimitResponse> {
  if (service === undefined) return Promise.reject(new ServiceError('the rate limit service does not exist'))
  const request = create(RateLimitRequestSchema, { domain: policy.domain, descriptors })
  const headers = new HeaderList()
  const traceparent = exchange.request.headers.get('traceparent')
  if (traceparent !== undefined) headers.append('traceparent', traceparent)
  return service.unary(exchange, RateLimitService.method.shouldRateLimit, request, { headers, isDetached })
}

function applied(exchange: Exchange, response: RateLimitResponse): Verdict {
  for (const { currentLimit, limitRemaining, durationUntilReset } of response.statuses) {
    if (currentLimit === undefined) continue
    noteRateLimit(exchange, {
      limit: currentLimit.requestsPerUnit,
      remaining: limitRemaining,
      resetSeconds: secondsOf(durationUntilReset),
    })
  }
  const { overallCode, rawBody, requestHeadersToAdd, responseHeadersToAdd } = response
  if (overallCode === RateLimitResponse_Code.OK) {
    for (const { name, value } of fieldsOf(requestHeadersToAdd)) exchange.request.headers.set(name, value)
    queue(exchange, responseHeadersToAdd)
    return undefined
  }
  if (overallCode !== RateLimitResponse_Code.OVER_LIMIT) {
    throw new ServiceError('the rate limit service returned no decision')
  }
  const retryAfter = responseHeadersToAdd.some(({ key }) => key.toLowerCase() === 'retry-after') ? 0 : resetOf(response)
  const refused = refusal(exchange, 'the rate limit service rejected the request', retryAfter)
  if (rawBody.length > 0 && !exchange.isGrpc) {
    refused.body = Buffer.from(rawBody)
    refused.headers.set('content-type', 'text/plain')
  }
  queue(exchange, responseHeadersToAdd)
  return refused
}

/** Seconds until all exceeded limits are reset; 0: the service does not say. */
function resetOf({ statuses }: RateLimitResponse): number {
  const exceeded = statuses.filter(({ code }) => code === RateLimitResponse_Code.OVER_LIMIT)
  return Math.max(0, ...exceeded.map(({ durationUntilReset }) => secondsOf(durationUntilReset)))
}

function queue(exchange: Exchange, headers: readonly HeaderValue[]): void {
  for (const { name, value } of fieldsOf(headers)) exchange.queueResponseHeader(name, value)
}

function fieldsOf(headers: readonly HeaderValue[]): { name: string; value: string }[] {
  return headers.flatMap(({ key, value, rawValue }) => {
    const text = value === '' ? Buffer.from(rawValue).toString('latin1') : Buffer.from(value).toString('latin1')
    const name = key.toLowerCase()
    const field = fieldValue(text)
    return field === undefined || !isToken(name) || isFramingField(name) || name === 'host'
      ? []
      : [{ name, value: field }]
  })
}

/** Rounded up; 0: unknown. */
function secondsOf(duration: RateLimitResponse['statuses'][number]['durationUntilReset']): number {
  return duration === undefined ? 0 : Math.ceil(Number(duration.seconds) + duration.nanos / 1e9)
}

/** The service reports one status for each descriptor, in their order. */
function statesOf({ descriptors }: Compiled, messages: readonly Sent[], { statuses }: RateLimitResponse): LimitState[] {
  return messages.flatMap(({ index, message }, i) => {
    const status = statuses[i]
    if (descriptors[index]?.isShown !== true || status?.currentLimit === undefined) return []
    const { requestsPerUnit: capacity, unit } = status.currentLimit
    const entries = message.entries.map(({ key, value }) => `${key}=${value}`).join(', ')
    const resetSeconds = secondsOf(status.durationUntilReset)
    return [{ descriptor: index, entries, capacity, unit, remaining: status.limitRemaining, resetSeconds }]
  })
}

function failed(exchange: Exchange, { id, policy }: Compiled, detail: string): Verdict {
  noteLimitCall(exchange, id, { result: 'failed', states: [] })
  if (exchange.deadlineMs !== undefined && performance.now() >= exchange.deadlineMs) {
    return exchange.fail('requestTimeout', `rate limit: ${detail}`)
  }
  if (policy.failureMode === 'FailClosed') return exchange.fail('rateLimitFailed', detail)
  exchange.errorDetail = `the rate limit was skipped: ${detail}`
  exchange.trace?.skip('the service cannot be called, and failureMode is FailOpen')
  return undefined
}

/** undefined: an entry failed or has no text, which drops the descriptor. */
function entriesOf({ entries }: Descriptor, exchange: Exchange): Entries | undefined {
  const evaluated: Entries = []
  for (const { name, expression } of entries) {
    const value = evaluate(expression, exchange)
    const text = value === FAILED ? undefined : textOf(value)
    if (text === undefined) return undefined
    evaluated.push(create(RateLimitDescriptor_EntrySchema, { key: name, value: text }))
  }
  return evaluated
}

/**
 * undefined leaves it to the service, which counts 1; so does a cost that fails or is negative: neither an error nor a
 * value from the request may make it free.
 */
function requestCost({ cost }: Descriptor, exchange: Exchange): number | undefined {
  const given = cost === undefined ? undefined : integerOf(evaluate(cost, exchange))
  return given === undefined || given < 0 ? undefined : given
}

function integerOf(value: unknown): number | undefined {
  const given = value instanceof CelUint ? value.value : value
  if (typeof given !== 'bigint' && typeof given !== 'number') return undefined
  const number = Math.floor(Number(given))
  return Number.isNaN(number) ? undefined : Math.min(number, UINT32_MAX)
}

function messageOf({ limit }: Descriptor, entries: Entries, hits: number | undefined): DescriptorMessage {
  return create(RateLimitDescriptorSchema, {
    entries,
    ...(hits === undefined ? {} : { hitsAddend: BigInt(hits) }),
    ...(limit === undefined ? {} : { limit }),
  })
}

/** Runs after the response, in the background: its result has no effect on the exchange. */
function charge(exchange: Exchange, compiled: Compiled): void {
  const passed = passedOf(exchange, compiled)
  if (passed === undefined || compiled.runningCharges >= CHARGES_MAX) return
  const descriptors: DescriptorMessage[] = []
  for (const [i, descriptor] of compiled.descriptors.entries()) {
    if (!descriptor.isTokens) continue
    const hits = tokenCost(descriptor, exchange, passed)
    if (hits === undefined || hits <= 0) continue
    // Values of the response, such as the model that answered, are known now.
    const entries = passed.entries[i] ?? entriesOf(descriptor, exchange)
    if (entries !== undefined) descriptors.push(messageOf(descriptor, entries, hits))
  }
  if (descriptors.length === 0) return
  compiled.runningCharges++
  const over = (): void => {
    compiled.runningCharges--
  }
  call(exchange, compiled, { descriptors, isDetached: true }).then(over, over)
}

/** Default: the tokens of the whole call, less those that are charged already. */
function tokenCost({ cost }: Descriptor, exchange: Exchange, { promptTokens }: Passed): number | undefined {
  if (cost !== undefined) return integerOf(evaluate(cost, exchange))
  const tokens = usedTokens(exchange)
  return tokens === undefined ? undefined : tokens - promptTokens
}
