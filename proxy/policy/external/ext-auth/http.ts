// The HTTP mode of external authorization (data-plane supplement section 7.2): a request like the original one, and
// only status 200 allows. Builds the request and parses the response; makes no other decision.
import type { CelExpression } from '#api/cel/expression.ts'
import type { ExtAuth, ExtAuthHttp } from '#api/ir/types.gen.ts'
import { ServiceError, type ServiceHttpRequest } from '../../../chain/service.ts'
import { derive } from '../../../exchange/derive.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import { HttpResponse } from '../../../message/message.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import { evaluate, evaluateBody, evaluateText, FAILED, readsBody } from '../../../cel/evaluate.ts'
import { isFramingField } from '../../../message/header-field.ts'
import { isTarget } from '../../rewrite/request-target.ts'
import type { Allowed, Decision, HeaderEdit } from './decision.ts'
import type { Answer, AuthorizationProtocol, Question } from './protocol.ts'
import { compileNamed, type Named } from './request-view.ts'

/** Responses are small: a page of text and headers. */
const ANSWER_BYTES_MAX = 1_048_576
const AUTHORITY: ReadonlySet<string> = new Set([':authority', 'host'])
const METHOD = ':method'
const IS_METHOD = /^[A-Z]{1,32}$/
export const DEFAULT_REQUEST_HEADERS = ['authorization']
/** Hop-by-hop fields of the connection to the service. */
const NOT_RETURNED: ReadonlySet<string> = new Set(['date', 'server', 'te', 'host'])

interface Compiled {
  readonly path: CelExpression | undefined
  readonly redirect: CelExpression | undefined
  readonly body: CelExpression | undefined
  readonly allowedRequestHeaders: readonly string[]
  readonly addRequestHeaders: readonly Named[]
  /** undefined: all. */
  readonly allowedResponseHeaders: readonly string[] | undefined
  readonly responseMetadata: readonly Named[]
}

export function httpProtocol(
  http: ExtAuthHttp,
  { allowedRequestHeaders = DEFAULT_REQUEST_HEADERS }: ExtAuth,
  environment: Pick<ChainEnvironment, 'expression'>,
): AuthorizationProtocol {
  const optional = (source: string | undefined): CelExpression | undefined =>
    source === undefined ? undefined : environment.expression(source)
  const compiled: Compiled = {
    path: optional(http.path),
    redirect: optional(http.redirect),
    body: optional(http.body),
    allowedRequestHeaders,
    addRequestHeaders: compileNamed(http.addRequestHeaders, environment).map(withLowerCaseName),
    allowedResponseHeaders: http.allowsAllResponseHeaders === true ? undefined : (http.allowedResponseHeaders ?? []),
    responseMetadata: compileNamed(http.responseMetadata, environment),
  }
  const { path, redirect, body, addRequestHeaders, responseMetadata } = compiled
  const named = [...addRequestHeaders, ...responseMetadata].map(({ expression }) => expression)
  return {
    readsRequestBody: readsBody([path, redirect, body, ...named], 'request'),
    async ask(question, service) {
      const response = await service.http(question.exchange, requestOf(question, compiled))
      return answerOf(question.exchange, response, compiled)
    },
  }
}

function requestOf(question: Question, compiled: Compiled): ServiceHttpRequest {
  const { exchange, body: forwarded } = question
  const { request } = exchange
  // `request.pathAndQuery` is an object with a text form.
  const text = String(compiled.path === undefined ? request.pathAndQuery : evaluate(compiled.path, exchange))
  if (!isTarget(text)) throw new ServiceError('the path expression does not return a path')
  const mark = text.indexOf('?')
  const body = compiled.body === undefined ? forwarded : evaluateBody(compiled.body, exchange)
  if (body === FAILED) throw new ServiceError('the body expression failed')
  const headers = headersOf(question, compiled)
  // A larger body is rejected, so a forwarded body is always complete.
  if (forwarded !== undefined) headers.set('x-envoy-auth-partial-body', 'false')
  return {
    method: methodOf(question, compiled),
    authority: authorityOf(question, compiled),
    path: mark < 0 ? text : text.slice(0, mark),
    query: mark < 0 ? '' : text.slice(mark + 1),
    headers,
    body: body === undefined || body.length === 0 ? undefined : body,
    answerBytesMax: ANSWER_BYTES_MAX,
  }
}

function headersOf({ exchange }: Question, compiled: Compiled): HeaderList {
  const headers = new HeaderList()
  for (const name of compiled.allowedRequestHeaders) {
    if (!isField(name)) continue
    for (const value of exchange.request.headers.getAll(name)) headers.append(name, value)
  }
  for (const { name, expression } of compiled.addRequestHeaders) {
    if (!isField(name)) continue
    const value = evaluateText(expression, exchange)
    if (value === undefined) headers.remove(name)
    else headers.set(name, value)
  }
  return headers
}

/** Not a pseudo-header or host: see `methodOf`, `authorityOf` and the path expression. */
function isField(name: string): boolean {
  return !name.startsWith(':') && name !== 'host' && !isFramingField(name)
}

/** That of the request, unless an added part replaces it. */
function methodOf({ exchange }: Question, { addRequestHeaders }: Compiled): string {
  const added = addRequestHeaders.find(({ name }) => name === METHOD)
  if (added === undefined) return exchange.request.method
  const method = evaluateText(added.expression, exchange)
  if (method !== undefined && IS_METHOD.test(method)) return method
  throw new ServiceError('the :method expression does not return a method')
}

/** undefined: the authority of the service. */
function authorityOf(
  { exchange }: Question,
  { allowedRequestHeaders, addRequestHeaders }: Compiled,
): string | undefined {
  const added = addRequestHeaders.find(({ name }) => AUTHORITY.has(name))
  if (added !== undefined) return evaluateText(added.expression, exchange)
  return allowedRequestHeaders.some((name) => AUTHORITY.has(name)) ? exchange.request.host : undefined
}

function answerOf(exchange: Exchange, response: HttpResponse, compiled: Compiled): Answer {
  const { status } = response
  // Metadata and redirect read the response of the service as `response`, without changing that of the client.
  const view = derive(exchange, { request: exchange.request })
  view.response = response
  if (status === 200) return { decision: allowed(view, response, compiled), isCacheable: true }
  const isAuthentication = status === 401 || status === 403
  if (isAuthentication && compiled.redirect !== undefined) {
    const location = evaluateText(compiled.redirect, view)
    if (location !== undefined) {
      const headers: HeaderEdit[] = [{ name: 'location', value: location, action: 'Set' }]
      return { decision: refusal(302, headers, ''), isCacheable: true }
    }
  }
  // Other successes do not allow the request, and a client would take them for its own response.
  if (status < 300)
    return { decision: { isAllowed: false, answer: undefined, metadata: undefined }, isCacheable: false }
  return { decision: refusal(status, returnedHeaders(response), bodyOf(response)), isCacheable: isAuthentication }
}

function allowed(view: Exchange, response: HttpResponse, compiled: Compiled): Allowed {
  const metadata = Object.create(null) as Record<string, unknown> // names come from users
  for (const { name, expression } of compiled.responseMetadata) {
    const value = evaluate(expression, view)
    if (value !== FAILED) metadata[name] = value
  }
  const { allowedResponseHeaders = namesOf(response.headers) } = compiled
  return {
    isAllowed: true,
    headers: allowedResponseHeaders.flatMap((name) => copies(name, response.headers)),
    // Removed if the service did not return it: a field of the client must not be taken for one of the service.
    removedHeaders: allowedResponseHeaders.filter((name) => !response.headers.has(name) && !isFramingField(name)),
    query: [],
    removedQuery: [],
    responseHeaders: [],
    metadata: compiled.responseMetadata.length === 0 ? undefined : metadata,
  }
}

function withLowerCaseName({ name, expression }: Named): Named {
  return { name: name.toLowerCase(), expression }
}

/** They describe the body of the service's response, which is dropped. */
const OF_BODY = 'content-'

/** Of all fields that may go to the backend. */
function namesOf(headers: HeaderList): string[] {
  const names = new Set([...headers].map(([name]) => name))
  return [...names].filter((name) => !isFramingField(name) && !NOT_RETURNED.has(name) && !name.startsWith(OF_BODY))
}

/** Replaces the field of the client. */
function copies(name: string, headers: HeaderList): HeaderEdit[] {
  return headers.getAll(name).map((value, i) => ({ name, value, action: i === 0 ? 'Set' : 'Append' }))
}

function refusal(status: number, headers: readonly HeaderEdit[], body: Buffer | string): Decision {
  return { isAllowed: false, answer: { status, headers, body }, metadata: undefined }
}

function returnedHeaders({ headers }: HttpResponse): HeaderEdit[] {
  return [...headers]
    .filter(([name]) => !isFramingField(name) && !NOT_RETURNED.has(name))
    .map(([name, value]) => ({ name, value, action: 'Append' }))
}

function bodyOf({ body }: HttpResponse): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
