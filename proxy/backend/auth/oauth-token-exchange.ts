// Exchanges the token of the client for one of the backend (data-plane supplement section 8.5). Tokens of the client
// are removed before the new token is written.
import { hash } from 'node:crypto'
import type { CelExpression } from '#api/cel/expression.ts'
import type { BackendReference, OAuthTokenExchange } from '#api/ir/types.gen.ts'
import { compileCredentialReader } from '../../auth/credential-reader.ts'
import { evaluateCredential, readsBody } from '../../cel/evaluate.ts'
import { mayAct } from '../../credentials/oauth/may-act.ts'
import { RESERVED_FIELDS } from '../../credentials/oauth/reserved-fields.ts'
import { type ExchangeInput, exchangeSource, type ExchangeSettings } from '../../credentials/oauth/token-exchange.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { DEFAULT_TTL_MS, sendIssued, tokenEndpointOf } from './issued-token.ts'
import type { AuthEnvironment, AuthKind } from './kind.ts'
import { DEFAULT_LOCATION, writerFor } from './location.ts'

interface Param {
  readonly name: string
  readonly expression: CelExpression
}

export const oauthTokenExchange: AuthKind = ({ oauthTokenExchange: policy }, environment) => {
  if (policy === undefined) return undefined
  const settings = settingsOf(policy, environment)
  if (typeof settings === 'string') return { problem: settings }
  const { expression, tokens } = environment
  const subjectReader = compileCredentialReader(policy.subjectToken.source, 'Bearer ', expression)
  const { actorToken } = policy
  const actorReader = actorToken && compileCredentialReader(actorToken.source, '', expression)
  const params = (policy.additionalParams ?? []).map(({ name, expression: text }) => ({
    name,
    expression: expression(text),
  }))
  const write = writerFor(policy.location ?? DEFAULT_LOCATION)
  const isActorChecked = actorToken?.mayAct === 'Required'
  return {
    note: 'writes the token of the token exchange',
    readsRequestBody:
      subjectReader.readsRequestBody ||
      actorReader?.readsRequestBody === true ||
      readsBody(
        params.map((param) => param.expression),
        'request',
      ),
    request: (exchange) => {
      const subject = subjectReader.read(exchange)
      const actor = actorReader?.read(exchange)
      const values = valuesOf(params, exchange)
      // Also where the exchange fails: an access log of all headers must not show them.
      if (subject !== undefined) subjectReader.remove(exchange)
      if (actor !== undefined) actorReader?.remove(exchange)
      if (subject === undefined) return rejected(exchange, 'no subject token')
      if (actorReader !== undefined && actor === undefined) return rejected(exchange, 'no actor token')
      if (typeof values === 'string') return rejected(exchange, `additionalParams.${values} is not a text`)
      if (isActorChecked && !mayAct(subject, actor ?? '')) return exchange.fail('actorNotPermitted')
      const input: ExchangeInput = { subject, actor, params: values }
      return sendIssued(exchange, { tokens, source: exchangeSource(exchange, settings, input), write })
    },
  }
}

function rejected(exchange: Exchange, problem: string): ReturnType<Exchange['fail']> {
  return exchange.fail('subjectTokenRejected', { log: `oauthTokenExchange: ${problem}`, client: problem })
}

/** @returns the name of the first parameter whose value is not a text */
function valuesOf(params: readonly Param[], exchange: Exchange): ExchangeInput['params'] | string {
  const values: [string, string][] = []
  for (const { name, expression } of params) {
    const value = evaluateCredential(expression, exchange)
    if (typeof value !== 'string') return name
    values.push([name, value])
  }
  return values
}

/** @returns the problem where a secret is missing or unusable */
function settingsOf(policy: OAuthTokenExchange, environment: AuthEnvironment): ExchangeSettings | string {
  const reserved = policy.additionalParams?.find(({ name }) => RESERVED_FIELDS.has(name))
  if (reserved !== undefined) return `additionalParams must not set ${reserved.name}`
  const endpoint = tokenEndpointOf('token endpoint', policy, environment)
  if (typeof endpoint === 'string') return endpoint
  const { grantType, subjectToken, actorToken, requestedTokenType, audiences, resources, scopes, cache } = policy
  const fingerprint = hash('sha256', JSON.stringify([policy, endpoint.client.fingerprint]))
  return {
    owner: `${nameOf(policy.service)} ${fingerprint.slice(0, 12)}`,
    endpoint,
    grantType,
    subjectTokenType: subjectToken.tokenType,
    actorTokenType: actorToken?.tokenType,
    requestedTokenType,
    audiences,
    resources,
    scopes,
    defaultTtlMs: cache?.defaultTtlMs ?? DEFAULT_TTL_MS,
    entriesMax: cache?.entriesMax,
    fingerprint,
  }
}

function nameOf({ service, backend = 'invalid' }: BackendReference): string {
  return service === undefined ? backend : `${service.hostname}:${service.port}`
}
