// Asks a token endpoint for a token (data-plane supplement section 8.5). Follows no redirect, repeats nothing, keeps
// nothing. Errors contain the status and the error code of the endpoint, no other part of its response.
import { isRecord, parseJson } from '#api/json.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderList } from '../../message/headers.ts'
import type { HttpResponse } from '../../message/message.ts'
import { TokenError } from '../token.ts'
import { unverifiedExpiryMs } from '../unverified-claims.ts'
import type { ClientAuthentication } from './client-auth.ts'

/** Of the response of a token endpoint. Tokens travel in header fields, which are far smaller. */
const ANSWER_BYTES_MAX = 64 * 1024
/** Of the code that an endpoint gives for a failure; a longer one is not shown. */
const ERROR_CODE = /^[\w.-]{1,64}$/
/** VSCHAR of RFC 6749 appendix A.12, without the blank, which no token has. */
const TOKEN = /^[\x21-\x7e]+$/
/** The token store does not keep what ends so soon. */
const ONE_REQUEST_MS = 1000
const DIGITS = /^\d{1,15}$/

/** A form on its way to a token endpoint. */
export interface FormRequest {
  readonly method: 'POST'
  readonly authority: undefined
  readonly path: string
  readonly query: string
  readonly headers: HeaderList
  readonly body: Buffer
  readonly answerBytesMax: number
  readonly detached: AbortSignal
}

export interface FormCaller {
  /** How long the endpoint may take to answer, in milliseconds: `http.requestTimeout` of its policies, else 10 s. */
  readonly answerMs: number
  /** The response with its whole body. Rejects with a TokenError if there is none in time. */
  http(exchange: Exchange, request: FormRequest): Promise<HttpResponse>
}

export interface TokenEndpoint {
  /** For messages, such as `identity provider`. */
  readonly name: string
  /** undefined: the reference names nothing that can be called. */
  readonly caller: FormCaller | undefined
  /** Begins with `/`; may have a query. */
  readonly path: string
  readonly client: ClientAuthentication
}

export interface TokenQuestion {
  /** Without the fields of the client authentication. Not changed. */
  readonly form: URLSearchParams
  /** Aborts the call; the departure of the client does not, because other requests may wait for the same token. */
  readonly signal: AbortSignal
  /** `N_A`: what is issued is no access token (RFC 8693 section 2.2.1); it may be absent then. */
  readonly tokenType: 'Bearer' | 'N_A'
  /** What was asked for. The response must not name another one. */
  readonly requestedTokenType?: string | undefined
  /** The response must name what was asked for. */
  readonly mustNameIssuedType?: boolean
}

export interface IssuedToken {
  readonly token: string
  /** Lifetime in seconds as the response gives it, more than 0; undefined: it does not. */
  readonly expiresInS: number | undefined
}

/**
 * @throws {TokenError} `SubjectRejected`: a status of 400 to 499 other than 401 and 403. `Rejected`: any other response
 * without a usable token, because what one client sends must not stop the fetches for others. `Unavailable`: no
 * response, or one of a server in between (502, 503, 504).
 */
export async function requestToken(
  exchange: Exchange,
  endpoint: TokenEndpoint,
  question: TokenQuestion,
): Promise<IssuedToken> {
  const response = await send(exchange, endpoint, question)
  const answer = Buffer.isBuffer(response.body) ? parseJson(response.body.toString('utf8')) : undefined
  const { status } = response
  if (status < 200 || status > 299) {
    throw new TokenError(reasonOf(status), `${endpoint.name} answered with ${status}${errorCodeOf(answer)}`)
  }
  const issued = read(answer, question)
  if (typeof issued === 'string') throw new TokenError('Rejected', `${endpoint.name}: ${issued}`)
  return issued
}

export interface TokenLife {
  readonly issued: IssuedToken
  /** Unix time in milliseconds of the request. */
  readonly startMs: number
  /** Lifetime in milliseconds of a token whose response gives none. */
  readonly defaultTtlMs: number
  /** Token of the client. */
  readonly subject: string
}

/**
 * When a token is no longer kept, Unix time in milliseconds. A subject token that has ended is the matter of the
 * endpoint, which accepted it: the request that fetched gets the token, and no other one.
 */
export function keptUntilMs({ issued: { expiresInS }, startMs, defaultTtlMs, subject }: TokenLife): number {
  const endMs = startMs + (expiresInS === undefined ? defaultTtlMs : expiresInS * 1000)
  const subjectEndMs = unverifiedExpiryMs(subject) ?? Infinity
  return Math.min(endMs, Math.max(subjectEndMs, Date.now() + ONE_REQUEST_MS))
}

async function send(exchange: Exchange, endpoint: TokenEndpoint, question: TokenQuestion): Promise<HttpResponse> {
  const { name, caller, path, client } = endpoint
  if (caller === undefined) throw new TokenError('Unavailable', `${name} does not exist or has no endpoint`)
  const form = new URLSearchParams(question.form)
  const headers = HeaderList.of([
    ['accept', 'application/json'],
    ['content-type', 'application/x-www-form-urlencoded'],
  ])
  try {
    await client.authenticate(form, headers)
    const body = Buffer.from(form.toString())
    headers.set('content-length', String(body.length))
    const [pathname = '/', ...query] = path.split('?')
    return await caller.http(exchange, {
      method: 'POST',
      authority: undefined,
      path: pathname,
      query: query.join('?'),
      headers,
      body,
      answerBytesMax: ANSWER_BYTES_MAX,
      detached: question.signal,
    })
  } catch (error) {
    if (error instanceof TokenError) {
      throw new TokenError(error.reason, `${name} did not answer: ${error.message}`, { cause: error })
    }
    throw error
  }
}

function reasonOf(status: number): TokenError['reason'] {
  if (status >= 502 && status <= 504) return 'Unavailable'
  return status >= 400 && status <= 499 && status !== 401 && status !== 403 ? 'SubjectRejected' : 'Rejected'
}

/** RFC 6749 section 5.2. The description is left out: endpoints repeat parts of the request in it. */
function errorCodeOf(answer: unknown): string {
  const code = isRecord(answer) ? answer['error'] : undefined
  return typeof code === 'string' && ERROR_CODE.test(code) ? `, error ${code}` : ''
}

/** @returns what is wrong with the response, or what it issues */
function read(answer: unknown, question: TokenQuestion): IssuedToken | string {
  if (!isRecord(answer)) return 'the response is not a JSON object'
  const { access_token: token, token_type: type, issued_token_type: issued, expires_in: expires } = answer
  if (typeof token !== 'string' || !TOKEN.test(token)) return 'the response has no usable access_token'
  if (!isExpected(type, question.tokenType)) return `token_type of the response is not ${question.tokenType}`
  const { requestedTokenType, mustNameIssuedType = false } = question
  const isMissing = issued === undefined && !mustNameIssuedType
  if (requestedTokenType !== undefined && issued !== requestedTokenType && !isMissing) {
    return `issued_token_type of the response is not ${requestedTokenType}`
  }
  const expiresInS = secondsOf(expires)
  if (expiresInS !== undefined && !(expiresInS > 0)) return 'expires_in of the response is not a positive number'
  return { token, expiresInS }
}

/** Compared without case (RFC 6749 section 7.1). */
function isExpected(type: unknown, expected: TokenQuestion['tokenType']): boolean {
  if (type === undefined) return expected === 'N_A'
  return typeof type === 'string' && type.toLowerCase() === expected.toLowerCase()
}

/** Some endpoints write the number as text. NaN: neither. */
function secondsOf(expires: unknown): number | undefined {
  if (expires === undefined || expires === null) return undefined
  if (typeof expires === 'string' && DIGITS.test(expires)) return Number(expires)
  return typeof expires === 'number' && Number.isFinite(expires) ? expires : Number.NaN
}
