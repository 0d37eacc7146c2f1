// LLM backends: picks a provider, prepares the call, sends it, converts the response to the client's format.
import type { AIBackend, RouteType } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { otherEndpoint } from '../backend/failover.ts'
import type { BackendEnvironment, Endpoint } from '../backend/handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { pickEndpoint, useEndpoint } from '../backend/http.ts'
import {
  dropBody,
  endTry,
  isCredentialRefused,
  type KeptRequest,
  keepRequest,
  REPLAY_BYTES_MAX,
} from '../backend/second-try.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { RequestTrace } from '../exchange/request-trace.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import { HttpResponse } from '../message/message.ts'
import { runChain } from '../chain/run-chain.ts'
import type { NamedFilter } from '../chain/filter.ts'
import type { UpstreamResponse } from '../upstream/target.ts'
import { currentPricing } from './cost/current-catalog.ts'
import { prepareCall, type CompiledProvider, type LlmCall } from './call.ts'
import { type Chosen, chooseProvider } from './choose-provider.ts'
import { compileProvider } from './compile-provider.ts'
import { detectAnswer, detectRequest } from './detect.ts'
import { failBy, sendToAny, type SentOutcome } from './endpoint-call.ts'
import { failureBodyOf } from './failure-body.ts'
import type { Format } from './formats/format.ts'
import { FailedProviders } from './failover.ts'
import { makeReply } from './reply.ts'
import type { ReplyContext } from './reply-context.ts'
import { type Handling, HANDLING, routeTypeMatcher } from './route-type.ts'
import { addressSocket, joinSocket } from './socket.ts'
import { answerTexts } from './texts.ts'
import { OnlyTry, overWith, resultOf, type TryOutcome, whenReady } from './try-outcome.ts'
import { emptyFacts } from './usage.ts'

/** An answer, or an event of a stream, that is translated; more where `frontend.http.maxBufferSize` is larger. */
const TRANSLATION_BYTES_MAX = 16 * 1024 * 1024

export function compileAiBackend(
  backend: AIBackend,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
): BackendHandler {
  const typeOf = routeTypeMatcher(policies.ai?.routes)
  const failureBody = failureBodyOf(policies.ai?.routes)
  const groups = backend.groups.map(({ providers }) =>
    providers.map((provider) => compileProvider(provider, environment)).filter((provider) => provider !== undefined),
  )
  const hasOther = hasOthers(groups)
  return (exchange, done) => {
    exchange.failureBody = failureBody
    const type = typeOf(exchange.request.path)
    const handling = HANDLING[type]
    if (handling === 'Refuse') {
      exchange.response = HttpResponse.local(501, JSON.stringify({ error: `Route '${type}' not implemented` }), [
        ['content-type', 'application/json'],
      ])
      done(exchange)
      return
    }
    const chosen = chooseProvider(groups)
    if (chosen === undefined) {
      exchange.fail('noHealthyBackends', 'no provider of this backend is available')
      done(exchange)
      return
    }
    const { provider, endpoint } = chosen
    const only = new OnlyTry(exchange, done)
    if (hasOther || provider.fetched !== undefined) {
      const context = { provider, endpoint, type, handling, environment, groups }
      answer(exchange, context).then(
        () => only.over(),
        (error: unknown) => only.broken(error),
      )
      return
    }
    const context = { provider, endpoint, type, handling, environment, groups, ...ONLY_TRY }
    try {
      answerFirst(exchange, context, only)
    } catch (error) {
      only.broken(error)
    }
  }
}

interface AnswerContext extends Chosen {
  readonly type: RouteType
  readonly handling: Exclude<Handling, 'Refuse'>
  readonly environment: BackendEnvironment
  readonly groups: readonly (readonly CompiledProvider[])[]
}

interface TryContext extends AnswerContext {
  /** The request can be sent again. */
  readonly isRepeatable: boolean
  /** Whether another provider can get the request. */
  readonly hasNext: () => boolean
  /** See `LlmFacts`. */
  readonly failed: string | undefined
}

const ONLY_TRY = { isRepeatable: false, hasNext: () => false, failed: undefined }

/** Of a request that may be sent again. */
async function answer(exchange: Exchange, first: AnswerContext): Promise<void> {
  const { groups } = first
  const failed = new FailedProviders<CompiledProvider>()
  const kept = await keptFor(exchange, first)
  for (let chosen = first; ;) {
    const { provider } = chosen
    const other = (): Chosen | undefined => chooseProvider(groups, (one) => one !== provider && !failed.has(one))
    const hasNext = (): boolean => kept !== undefined && failed.hasRoom && other() !== undefined
    await answerWith(exchange, { ...chosen, isRepeatable: kept !== undefined, failed: failed.outcomes, hasNext }, kept)
    if (!failed.add(exchange, provider, provider.settings.name) || kept === undefined) return
    const next = other()
    if (next === undefined) return
    failed.moveOn(exchange, kept, next.provider.settings.name)
    chosen = { ...first, ...next }
  }
}

function hasOthers([first = [], ...others]: readonly (readonly CompiledProvider[])[]): boolean {
  return others.length > 0 || first.length > 1
}

/** The try with one provider; a second one if it refuses a credential. */
async function answerWith(exchange: Exchange, context: TryContext, kept: KeptRequest | undefined): Promise<void> {
  const isRefused = await resultOf((outcome) => answerFirst(exchange, context, outcome))
  const { llm } = exchange
  if (!isRefused || kept === undefined || llm === undefined) return
  endTry(exchange)
  dropBody(exchange.response?.body)
  kept.restore(exchange)
  await resultOf((outcome) => answerOnce(exchange, llm, { ...context, isRepeatable: false }, outcome))
}

/** What it throws is a bug, as in all steps of a try. */
function answerFirst(exchange: Exchange, context: TryContext, outcome: TryOutcome): void {
  const { telemetryName } = context.provider.profile
  const facts = emptyFacts(telemetryName)
  facts.failedProviders = context.failed
  facts.pricing = currentPricing()
  facts.promptTokens = exchange.llm?.promptTokens
  exchange.llm = facts
  if (exchange.trace !== undefined) traceProvider(exchange.trace, context)
  answerOnce(exchange, facts, context, outcome)
}

/** For a second try, with another credential or another provider. */
async function keptFor(exchange: Exchange, { handling, environment }: AnswerContext): Promise<KeptRequest | undefined> {
  const isReadWhole = typeof handling !== 'string'
  const bytesMax = isReadWhole ? environment.bufferBytesMax : REPLAY_BYTES_MAX
  try {
    return await keepRequest(exchange, { bytesMax, isReadWhole })
  } catch {
    // The try reads the body again, and reports this failure.
    return undefined
  }
}

function answerOnce(exchange: Exchange, facts: LlmFacts, context: TryContext, outcome: TryOutcome): void {
  const filters = filtered(exchange, context.provider.request)
  const started = { exchange, facts, context, outcome }
  if (filters === undefined) answerFrom(started)
  else whenReady(filters, outcome, () => answerFrom(started))
}

interface StartedTry {
  readonly exchange: Exchange
  readonly facts: LlmFacts
  readonly context: TryContext
  readonly outcome: TryOutcome
}

function answerFrom(started: StartedTry): void {
  const { exchange, facts, outcome } = started
  const context = withPicked(exchange, started.context)
  if (context === undefined) {
    outcome.over(false)
    return
  }
  const { provider, handling, environment } = context
  if (typeof handling === 'string') overWith(answerForwarded(exchange, facts, context), outcome)
  else if (handling.transport === 'Socket') {
    overWith(answerSocket(exchange, facts, { ...context, handling }), outcome)
  } else {
    const own = context === started.context ? started : { ...started, context }
    const call = prepareCall(exchange, provider, handling, environment.bufferBytesMax)
    if (call instanceof Promise) answerLater(own, call)
    else answerCall(own, call)
  }
}

/** With the endpoint that an endpoint picker selects. undefined: the exchange has its response. */
function withPicked(exchange: Exchange, context: TryContext): TryContext | undefined {
  if (exchange.response !== undefined) return undefined
  if (exchange.picked === undefined) return context
  const endpoint = pickEndpoint(exchange, context.provider.picker)
  if (endpoint !== undefined) return { ...context, endpoint }
  exchange.fail('noHealthyBackends')
  return undefined
}

function answerLater(started: StartedTry, call: Promise<LlmCall | HttpResponse>): void {
  whenReady(call, started.outcome, (late) => answerCall(started, late))
}

/** `call`: a response, if the request has failed. */
function answerCall(started: StartedTry, call: LlmCall | HttpResponse): void {
  const { exchange, facts, context, outcome } = started
  if (call instanceof HttpResponse) {
    outcome.over(false)
    return
  }
  facts.requestModel = call.model
  facts.isStreaming = call.isStreaming
  facts.params = call.params
  facts.operation = call.conversion.client.operation
  call.dropped.report(exchange, facts)
  sendToAny(exchange, call, placeOfCall(call, context), new SentTry(started, call))
}

class SentTry implements SentOutcome {
  readonly #started: StartedTry
  readonly #call: LlmCall

  constructor(started: StartedTry, call: LlmCall) {
    this.#started = started
    this.#call = call
  }

  answered(upstream: UpstreamResponse): void {
    const { exchange, facts, context, outcome } = this.#started
    const answered = answerWithReply({ exchange, facts, call: this.#call, context }, upstream)
    if (answered instanceof Promise) overWith(answered, outcome)
    else outcome.over(answered)
  }

  failed(): void {
    this.#started.outcome.over(false)
  }

  broken(error: unknown): void {
    this.#started.outcome.broken(error)
  }
}

interface Answering {
  readonly exchange: Exchange
  readonly facts: LlmFacts
  readonly call: LlmCall
  readonly context: TryContext
}

/** True: see `TryOutcome`. */
function answerWithReply(answering: Answering, upstream: UpstreamResponse): boolean | Promise<boolean> {
  const { exchange, facts, call, context } = answering
  const { provider, environment, hasNext } = context
  exchange.upstreamHeadMs = performance.now()
  exchange.trace?.upstreamAnswered(exchange, upstream)
  if (isRefused(exchange, upstream, context)) {
    exchange.upstreamCall = undefined
    dropBody(upstream.body)
    return true
  }
  const { bufferBytesMax } = environment
  const options = { client: call.conversion.client, facts, sizeMax: bufferBytesMax }
  const texts = answerTexts(exchange, provider.textReads, options)
  const { guards, answerHeaders } = provider
  const reply: ReplyContext = {
    exchange,
    call,
    facts,
    guards,
    texts,
    hasNext,
    answerHeaders,
    bodyBytesMax: bufferBytesMax,
    translationBytesMax: translationBytesMax(environment),
  }
  const made = makeReply(reply, upstream)
  if (made instanceof Promise || provider.response.length > 0) return filteredReply(exchange, provider, made)
  exchange.upstreamCall = undefined
  exchange.response = made
  return false
}

async function filteredReply(
  exchange: Exchange,
  { response }: CompiledProvider,
  made: HttpResponse | Promise<HttpResponse>,
): Promise<boolean> {
  try {
    exchange.response = made instanceof Promise ? await made : made
    await filtered(exchange, response)
  } catch (error) {
    failBy(exchange, error)
  } finally {
    exchange.upstreamCall = undefined
  }
  return false
}

function translationBytesMax({ bufferBytesMax }: BackendEnvironment): number {
  return Math.max(bufferBytesMax, TRANSLATION_BYTES_MAX)
}

/** Rerank requests have endpoints of their own at some providers. */
function placeOfCall({ conversion }: LlmCall, context: TryContext): TryContext {
  const { provider } = context
  const picker = conversion.client.usesRerankHost === true ? provider.rerankPicker : undefined
  const endpoint = picker?.pick()
  return picker === undefined || endpoint === undefined
    ? context
    : { ...context, endpoint, provider: { ...provider, picker } }
}

async function answerForwarded(exchange: Exchange, facts: LlmFacts, context: TryContext): Promise<boolean> {
  const { provider, handling, environment } = context
  exchange.parsedBody = undefined
  if (handling === 'Detect') detectRequest(exchange, facts, environment.bufferBytesMax)
  await passThrough(exchange, context)
  if (isRefused(exchange, exchange.response, context)) return true
  if (handling === 'Detect') detectAnswer(exchange, facts, environment.bufferBytesMax)
  if (exchange.response?.isLocal === false) await filtered(exchange, provider.response)
  return false
}

async function answerSocket(
  exchange: Exchange,
  facts: LlmFacts,
  context: TryContext & { readonly handling: Format },
): Promise<boolean> {
  const { provider, handling, environment } = context
  if (addressSocket(exchange, facts, { provider, format: handling }) !== undefined) return false
  await passThrough(exchange, context)
  if (isRefused(exchange, exchange.response, context)) return true
  const limits = { messageBytesMax: environment.bufferBytesMax, heldBytesMax: translationBytesMax(environment) }
  joinSocket(exchange, facts, { provider, format: handling, ...limits })
  return false
}

/** Not a response of the proxy itself. */
function isRefused(
  exchange: Exchange,
  answer: (Pick<HttpResponse, 'status' | 'headers'> & { readonly isLocal?: boolean }) | undefined,
  { isRepeatable }: TryContext,
): boolean {
  if (exchange.credential === undefined || answer === undefined || answer.isLocal === true) return false
  return isCredentialRefused(exchange, answer) && isRepeatable
}

function traceProvider(trace: RequestTrace<Exchange>, { provider, type }: AnswerContext): void {
  trace.policySelection('subBackend', { effective: provider.policies })
  trace.write({ type: 'llmRouteResolved', routeType: type, provider: provider.settings.name })
}

/** Forwarded unchanged, except address, credential and provider headers. */
function passThrough(exchange: Exchange, { provider, endpoint, environment }: AnswerContext): Promise<void> {
  provider.profile.prepareHeaders(exchange.request.headers, provider.credential, undefined)
  const { promise, resolve } = Promise.withResolvers<void>()
  const forward = (to: Endpoint): void => {
    useEndpoint(exchange, to, provider.health)
    exchange.trace?.backendStart(exchange, { target: to.label, sent: { host: to.authority } })
    environment.client.forward(exchange, to.target, to.authority, answered)
  }
  const answered = (): void => {
    const next = exchange.isMovable ? otherEndpoint(exchange, provider.picker) : undefined
    if (next === undefined) resolve()
    else forward(next)
  }
  forward(endpoint)
  return promise
}

/** undefined: no filter waits. */
function filtered(exchange: Exchange, filters: readonly NamedFilter[]): Promise<void> | undefined {
  if (filters.length === 0) return undefined
  let isOver = false
  let late: (() => void) | undefined
  runChain(filters, exchange, 0, () => {
    isOver = true
    late?.()
  })
  if (isOver) return undefined
  return new Promise((resolve) => {
    late = resolve
  })
}
