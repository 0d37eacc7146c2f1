// The guard `webhook`: a service of the user decides (data-plane supplement section 3.7, and the control-plane
// supplement section 1.4). The status of its answer has no meaning, only the body.
import type { GuardWebhook } from '#api/ir/types.gen.ts'
import { evaluateText } from '../../cel/evaluate.ts'
import { ServiceError } from '../../chain/service.ts'
import { isFramingField } from '../../message/header-field.ts'
import { HeaderList } from '../../message/headers.ts'
import { HttpRequest } from '../../message/message.ts'
import { compileNamed, type Named } from '../../policy/external/ext-auth/request-view.ts'
import { setRequestPart } from '../../policy/rewrite/request-target.ts'
import { compileStringTest, type StringTest } from '../../route/match.ts'
import { asArray, asObject, asString } from '../json.ts'
import { askGuard, type GuardEnvironment, type GuardQuestion } from './external.ts'
import { PASS, type Guard, type GuardedTexts, type GuardPhase, type GuardVerdict, type TextSpan } from './guard.ts'

interface Contract {
  readonly path: string
  /** The list that has the texts, in the question and in a mask. */
  readonly list: 'messages' | 'choices'
  readonly entryOf: (span: TextSpan) => object
  readonly textOf: (entry: unknown) => string | undefined
}

const CONTRACTS: { readonly [P in GuardPhase]: Contract } = {
  Request: {
    path: '/request',
    list: 'messages',
    entryOf: ({ role, text }) => ({ role, content: text }),
    textOf: (entry) => asString(asObject(entry)['content']),
  },
  Response: {
    path: '/response',
    list: 'choices',
    entryOf: ({ role, text }) => ({ message: { role, content: text } }),
    textOf: (entry) => asString(asObject(asObject(entry)['message'])['content']),
  },
}

/** They describe the body or the connection of the client; names that begin with `content-` as well. */
const NOT_FORWARDED: ReadonlySet<string> = new Set(['host', 'te', 'expect', 'accept', 'accept-encoding'])
const OF_BODY = 'content-'

const STATUS_MIN = 200
const STATUS_MAX = 599

interface Forwarded {
  readonly name: string
  readonly test: StringTest
}

export function webhook(settings: GuardWebhook, environment: Pick<GuardEnvironment, 'expression' | 'service'>): Guard {
  const service = environment.service(settings.service, 'Guardrail')
  const forwarded = (settings.forwardHeaderMatches ?? [])
    .map(({ name, value }) => ({ name: name.toLowerCase(), test: compileStringTest(value) }))
    .filter(({ name }) => isForwardable(name))
  const added = compileNamed(settings.headers, environment)
    .map(({ name, expression }) => ({ name: name.toLowerCase(), expression }))
    .filter(({ name }) => !isFramingField(name))
  return {
    name: 'webhook',
    failureMode: settings.failureMode,
    async check(guarded) {
      const contract = CONTRACTS[guarded.phase]
      const { json } = await askGuard(service, guarded.exchange, questionOf(guarded, contract, { forwarded, added }))
      return verdictOf(json['action'], guarded, contract)
    },
  }
}

function isForwardable(name: string): boolean {
  return !name.startsWith(':') && !name.startsWith(OF_BODY) && !NOT_FORWARDED.has(name) && !isFramingField(name)
}

function questionOf(
  { exchange, spans, upstreamHeaders }: GuardedTexts,
  { path, list, entryOf }: Contract,
  { forwarded, added }: { readonly forwarded: readonly Forwarded[]; readonly added: readonly Named[] },
): GuardQuestion {
  // A credential of the gateway or of the provider can be in the request by now.
  const { secretFields } = exchange.request
  const headers =
    upstreamHeaders === undefined
      ? matchingFields(exchange.request.headers, forwarded, secretFields)
      : matchingFields(upstreamHeaders, forwarded)
  const call = new HttpRequest({
    method: 'POST',
    path,
    query: '',
    host: '',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers,
  })
  for (const { name, expression } of added) {
    const value = evaluateText(expression, exchange)
    if (setRequestPart(call, name, value)) continue
    // A field of the client must not be taken for the result of the expression.
    if (value === undefined) headers.remove(name)
    else headers.set(name, value)
  }
  return {
    method: call.method,
    path: call.path,
    query: call.query,
    authority: call.host === '' ? undefined : call.host,
    headers,
    body: { body: { [list]: spans.map(entryOf) } },
  }
}

function matchingFields(
  source: HeaderList,
  forwarded: readonly Forwarded[],
  excluded: readonly string[] = [],
): HeaderList {
  const headers = new HeaderList()
  for (const { name, test } of forwarded) {
    if (headers.has(name) || excluded.includes(name)) continue
    const values = source.getAll(name)
    if (values.some(test)) for (const value of values) headers.append(name, value)
  }
  return headers
}

/**
 * Actions have no tag. Unlike the published contract, an action with `body` or `status_code` that is neither a mask nor
 * a rejection is a failure: a rejection with a mistake must not pass.
 * @throws {ServiceError}
 */
function verdictOf(action: unknown, { spans }: GuardedTexts, { list, textOf }: Contract): GuardVerdict {
  if (typeof action !== 'object' || action === null || Array.isArray(action)) {
    throw new ServiceError('the answer of the webhook has no action')
  }
  const { body, status_code: status } = asObject(action)
  if (isAbsent(body) && isAbsent(status)) return PASS
  if (typeof body === 'string') {
    if (!isStatus(status)) throw new ServiceError('the rejection of the webhook has no valid status_code')
    return { kind: 'reject', rejection: { status, body }, matched: [] }
  }
  const entries = asArray(asObject(body)[list])
  const texts = entries.map(textOf).filter((text) => text !== undefined)
  if (texts.length !== entries.length || texts.length !== spans.length) {
    throw new ServiceError(`the mask of the webhook does not have ${spans.length} ${list} with content`)
  }
  return { kind: 'mask', texts, matched: [] }
}

function isAbsent(member: unknown): boolean {
  return member === undefined || member === null
}

function isStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= STATUS_MIN && status <= STATUS_MAX
}
