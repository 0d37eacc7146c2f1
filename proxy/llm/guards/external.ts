// The call of a guard's service: one JSON request, one JSON answer, both bounded. Errors have no text of the request
// or of the answer.
import type { BackendEnvironment } from '../../backend/handler.ts'
import { ServiceError, type ServiceCaller } from '../../chain/service.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderList } from '../../message/headers.ts'
import { parseObject, type JsonObject } from '../json.ts'
import { PASS, type Guard, type GuardedTexts, type GuardVerdict } from './guard.ts'

/** Bytes of one request, which has all texts of a conversation as JSON. */
export const QUESTION_BYTES_MAX = 16 * 1024 * 1024
/** Bytes of one answer, which may return all texts. */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/** Names of filters in a verdict: they become labels. */
const MATCHED_MAX = 16
const NAME = /^[A-Za-z0-9_.:/-]{1,64}$/

/** What guards that call a service are compiled with. */
export type GuardEnvironment = Pick<BackendEnvironment, 'expression' | 'service' | 'vendor'>

export interface GuardQuestion {
  readonly path: string
  readonly body: object
  /** Default: POST. */
  readonly method?: string
  /** Default: an empty query. */
  readonly query?: string
  /** Default: the name of the service. */
  readonly authority?: string | undefined
  readonly headers?: HeaderList
}

export interface GuardAnswer {
  readonly status: number
  readonly json: JsonObject
}

/**
 * `service`: undefined if its reference has no target.
 * @throws {ServiceError} if there is no answer, or if the answer is not a JSON object.
 */
export async function askGuard(
  service: ServiceCaller | undefined,
  exchange: Exchange,
  { path, body, method = 'POST', query = '', authority, headers = new HeaderList() }: GuardQuestion,
): Promise<GuardAnswer> {
  if (service === undefined) throw new ServiceError('the service of the guard does not exist')
  const bytes = Buffer.from(JSON.stringify(body))
  if (bytes.length > QUESTION_BYTES_MAX) {
    throw new ServiceError(`the texts are larger than ${QUESTION_BYTES_MAX} bytes`)
  }
  headers.set('content-type', 'application/json')
  headers.set('accept', 'application/json')
  headers.set('accept-encoding', 'identity')
  const message = { method, authority, path, query, headers, body: bytes, answerBytesMax: ANSWER_BYTES_MAX }
  const response = await service.http(exchange, message)
  const json = Buffer.isBuffer(response.body) ? parseObject(response.body.toString('utf8')) : undefined
  if (json === undefined) throw new ServiceError(`the answer is not a JSON object (status ${response.status})`)
  return { status: response.status, json }
}

/** A guard whose service is a vendor's, which answers each question with the status 200. */
export interface VendorGuard {
  readonly name: Guard['name']
  readonly service: ServiceCaller | undefined
  readonly question: (texts: readonly string[], guarded: GuardedTexts) => GuardQuestion
  /** @throws {ServiceError} if the answer is not a verdict on all texts. */
  readonly verdict: (answer: JsonObject, examined: Examined, guarded: GuardedTexts) => GuardVerdict
}

/** The texts that a service can examine, and their positions: services reject empty texts. */
export interface Examined {
  readonly texts: readonly string[]
  readonly positions: readonly number[]
}

export function vendorGuard({ name, service, question, verdict }: VendorGuard): Guard {
  return {
    name,
    failureMode: 'FailClosed',
    async check(guarded) {
      const examined = examinedTexts(guarded)
      if (examined.texts.length === 0) return PASS
      const { status, json } = await askGuard(service, guarded.exchange, question(examined.texts, guarded))
      if (status !== 200) throw new ServiceError(`the service answered with status ${status}`)
      return verdict(json, examined, guarded)
    },
  }
}

function examinedTexts({ spans }: GuardedTexts): Examined {
  const texts: string[] = []
  const positions: number[] = []
  for (const [index, { text }] of spans.entries()) {
    if (text.trim() === '') continue
    texts.push(text)
    positions.push(index)
  }
  return { texts, positions }
}

/** Names for logs and labels, each once: a name in another form could be text of the conversation. */
export function matchedNames(names: Iterable<string>): readonly string[] {
  const matched = new Set<string>()
  for (const name of names) {
    if (matched.size === MATCHED_MAX) break
    if (NAME.test(name)) matched.add(name)
  }
  return [...matched]
}
