// The models of a listener: finds the model of a request and passes the request to its backend, and lists
// them (data-plane supplement section 3.10).
import type { Authorization, ModelsBackend, ModelTarget, OfferedModel } from '#api/ir/types.gen.ts'
import { nameMatcher } from '#api/llm/model-names.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { BackendEnvironment } from '../backend/handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { weightedPicker } from '../chain/weighted.ts'
import { decodedOrNot } from './formats/gemini/model-path.ts'
import { failByDefect } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { HttpResponse } from '../message/message.ts'
import { compileRules } from '../policy/auth/authorization.ts'
import { isTrue } from '../cel/evaluate.ts'
import { compileRequestTest } from '../route/match.ts'
import { modelsFailureBody } from './failure-body.ts'
import { askFor, type ModelFailure, readModelRequest, type ModelRequest } from './model-request.ts'

export interface ModelsEnvironment extends Pick<BackendEnvironment, 'expression' | 'bufferBytesMax'> {
  /** Compiled on first use. */
  readonly handlerOf: (key: string) => BackendHandler
  /** Whether the backend can respond. */
  readonly isServed: (key: string) => boolean
}

/** The target of a model. */
interface Target {
  readonly backend: string
  /** undefined: the model in the request. */
  readonly model: string | undefined
  readonly isAllowed: Check
}

type Check = (exchange: Exchange) => boolean

interface CompiledModel {
  readonly name: string
  readonly createdAt: number
  readonly matches: (name: string) => boolean
  readonly matchesRequest: Check
  readonly isAllowed: Check
  /** The possible targets. */
  readonly backends: readonly string[]
  readonly choose: (exchange: Exchange) => Target | ModelFailure
}

/** CEL `metadata`: the model that the client asked for. */
const USER_MODEL = 'gw_user_model'

export function compileModels({ models }: ModelsBackend, environment: ModelsEnvironment): BackendHandler {
  // Internal models are reached only through the targets of other models.
  const offered = models.filter(({ internal }) => internal !== true).map((model) => compileModel(model, environment))
  return (exchange, done) => {
    const isUsable = ({ matchesRequest, isAllowed, backends }: CompiledModel): boolean =>
      matchesRequest(exchange) && isAllowed(exchange) && backends.some((key) => environment.isServed(key))
    if (isDiscovery(exchange.request.path)) {
      exchange.response = listOf(offered.filter((one) => !one.name.includes('*') && isUsable(one)))
      done(exchange)
      return
    }
    exchange.failureBody = modelsFailureBody
    const name = describedModel(exchange.request)
    if (name !== undefined) {
      const found = offered.find((one) => one.matches(name) && isUsable(one))
      if (found === undefined) exchange.fail('modelNotFound')
      else exchange.response = jsonResponse(description(name, found))
      done(exchange)
      return
    }
    findHandler(exchange, offered, environment).then(
      (handler) => (handler === undefined ? done(exchange) : handler(exchange, done)),
      (error: unknown) => {
        failByDefect(exchange, 'llm models', error)
        done(exchange)
      },
    )
  }
}

function isDiscovery(path: string): boolean {
  return path === '/v1/models' || path === '/models'
}

/** The model that the client asks about, as `/v1/models/NAME`; undefined: the request is another one. */
function describedModel({ method, path }: Exchange['request']): string | undefined {
  const [, name] = (method === 'GET' && /^(?:\/v1)?\/models\/(.+)$/.exec(path)) || []
  return name === undefined ? undefined : decodedOrNot(name)
}

function listOf(models: readonly CompiledModel[]): HttpResponse {
  return jsonResponse({ object: 'list', data: models.map((model) => description(model.name, model)) })
}

function description(id: string, { createdAt: created }: CompiledModel): object {
  return { id, object: 'model', created, owned_by: 'openai' }
}

function jsonResponse(body: object): HttpResponse {
  return HttpResponse.local(200, JSON.stringify(body), [['content-type', 'application/json']])
}

/** undefined: the exchange has its response. */
async function findHandler(
  exchange: Exchange,
  offered: readonly CompiledModel[],
  { bufferBytesMax, handlerOf }: ModelsEnvironment,
): Promise<BackendHandler | undefined> {
  const request = await readModelRequest(exchange, bufferBytesMax)
  if (typeof request === 'string') {
    exchange.fail(request)
    return undefined
  }
  const target = choose(exchange, request, offered)
  if (typeof target === 'string') {
    exchange.fail(target)
    return undefined
  }
  // Names come from users: without a prototype, no name has a special meaning.
  exchange.metadata ??= Object.create(null) as Record<string, unknown>
  exchange.metadata[USER_MODEL] = request.model
  exchange.backendName = target.backend
  askFor(exchange, request, target.model ?? request.model)
  return handlerOf(target.backend)
}

/** The first model with the name that the client may use; then its target, if the client may use that. */
function choose(
  exchange: Exchange,
  { model, json }: ModelRequest,
  offered: readonly CompiledModel[],
): Target | ModelFailure {
  exchange.llmRequest = json?.members
  try {
    let failure: ModelFailure = 'modelNotFound'
    for (const one of offered) {
      if (!one.matches(model) || !one.matchesRequest(exchange)) continue
      if (!one.isAllowed(exchange)) {
        failure = 'modelDenied'
        continue
      }
      const target = one.choose(exchange)
      return typeof target === 'string' || target.isAllowed(exchange) ? target : 'modelDenied'
    }
    return failure
  } finally {
    exchange.llmRequest = undefined
  }
}

function compileModel(model: OfferedModel, environment: ModelsEnvironment): CompiledModel {
  return {
    name: model.name,
    createdAt: model.createdAt ?? 0,
    matches: nameMatcher(model.name),
    matchesRequest: compileMatches(model.matches),
    isAllowed: compileCheck(model.authorization, environment),
    backends: backendsOf(model),
    choose: compileChoice(model, environment),
  }
}

function compileMatches(matches: OfferedModel['matches']): Check {
  if (matches === undefined) return () => true
  const tests = matches.map((match) => compileRequestTest(match))
  return ({ request }) => tests.some((test) => test?.(request) !== false)
}

function backendsOf({ backend, weighted = [], conditional = [] }: OfferedModel): string[] {
  const targets = [...weighted.filter(({ weight }) => weight !== 0), ...conditional]
  return [backend, ...targets.map((target) => target.backend)].filter((key) => key !== undefined)
}

/** Rules of different models: none of them may replace another. */
function compileCheck(rules: readonly Authorization[] | undefined, environment: ModelsEnvironment): Check {
  if (rules === undefined || rules.length === 0) return () => true
  const checks = rules.map((rule) => compileRules([rule], environment))
  return (exchange) => checks.every((isAllowed) => isAllowed(exchange))
}

function compileChoice(model: OfferedModel, environment: ModelsEnvironment): CompiledModel['choose'] {
  const { backend, weighted, conditional } = model
  if (backend !== undefined) {
    const target: Target = { backend, model: undefined, isAllowed: () => true }
    return () => target
  }
  const targets = weighted ?? conditional ?? []
  if (targets.every((target) => target.backend === undefined)) return () => 'virtualModelUnresolved'
  if (weighted === undefined) return firstOf(targets, environment)
  const pick = weightedPicker(
    targets.map((target) => ({ weight: target.weight ?? 1, value: compileTarget(target, environment) })),
  )
  return () => pick() ?? 'virtualModelUnresolved'
}

function firstOf(targets: readonly ModelTarget[], environment: ModelsEnvironment): CompiledModel['choose'] {
  const compiled = targets.map((target): { when: CelExpression | undefined; value: Target | ModelFailure } => ({
    when: target.when === undefined ? undefined : environment.expression(target.when),
    value: compileTarget(target, environment),
  }))
  return (exchange) => {
    for (const { when, value } of compiled) if (when === undefined || isTrue(when, exchange)) return value
    return 'virtualModelNoMatch'
  }
}

function compileTarget(
  { backend, model, authorization }: ModelTarget,
  environment: ModelsEnvironment,
): Target | ModelFailure {
  if (backend === undefined) return 'virtualModelTargetMissing'
  return { backend, model, isAllowed: compileCheck(authorization, environment) }
}
