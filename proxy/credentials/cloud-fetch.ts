// HTTP for the libraries of cloud vendors while they fetch one credential. It sends requests only to the hosts that the
// caller admits, follows no redirect, limits answers, and keeps for messages which endpoint answered what. It must not
// keep or report a body.
import { isRecord, parseJson, recordOf } from '#api/json.ts'
import { TokenError } from './token.ts'
import { untilAborted } from './until-aborted.ts'

/** Limits one fetch of a cloud credential, with all its requests, in milliseconds (data plane, section 8.4). */
export const CLOUD_FETCH_MS = 5000
/** Bytes of one answer: tokens are a few KiB, and the metadata of an issuer about 10 KiB. */
const ANSWER_BYTES_MAX = 256 * 1024
/** Requests of one fetch, with those that a library repeats. */
const REQUESTS_MAX = 12
/** Characters of a token that fits into a header field. */
const TOKEN_LENGTH_MAX = 16 * 1024
/**
 * A token that ends sooner is of no use, in milliseconds. A library that finds no expiry in an answer reports the
 * current second.
 */
const LIFE_MS_MIN = 5000
/** No token is kept longer, whatever its issuer claims: one day in milliseconds. */
const LIFE_MS_MAX = 24 * 3600_000

const VISIBLE = /^[\u0021-\u007e]+$/
/** An error code of OAuth or of a vendor's API, never a sentence. */
const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
const AADSTS = /\bAADSTS\d{1,10}\b/
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>

/** One answer, or its absence, in the form in which messages name it. */
interface Answer {
  readonly host: string
  readonly status?: number
  readonly code?: string
}

export interface CloudFetchOptions {
  /** Whether a credential may be sent to this URL. */
  readonly admits: (url: URL) => boolean
  readonly signal: AbortSignal
  /** The fetch of this process by default; tests lead it to their endpoints. */
  readonly send?: Fetch | undefined
}

export class CloudFetch {
  readonly signal: AbortSignal
  readonly #admits: (url: URL) => boolean
  readonly #send: Fetch
  #last: Answer | undefined
  #refused: TokenError | undefined
  #requests = 0

  constructor({ admits, signal, send }: CloudFetchOptions) {
    this.#admits = admits
    this.signal = AbortSignal.any([signal, AbortSignal.timeout(CLOUD_FETCH_MS)])
    this.#send = send ?? ((input, init) => fetch(input, init))
  }

  /** For libraries: like the fetch of the platform, with a body that is already read. */
  readonly fetch: Fetch = async (input, init = {}) => {
    const url = new URL(input)
    if (!this.#admits(url)) {
      throw this.#refuse(`requests for the credential may not go to ${url.protocol}//${url.host}`)
    }
    this.#requests++
    if (this.#requests > REQUESTS_MAX) throw this.#refuse('the library sent too many requests for one credential')
    this.#last = { host: url.host }
    const { method = 'GET', headers, body, signal } = init
    const request: RequestInit = {
      method,
      redirect: 'error',
      signal: AbortSignal.any([this.signal, ...(signal ? [signal] : [])]),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
    }
    const { response, bytes } = await this.#sent(url, request)
    const code = response.ok ? undefined : errorCode(bytes)
    this.#last = { host: url.host, status: response.status, ...(code !== undefined && { code }) }
    return new Response(WITHOUT_BODY.has(response.status) ? null : bytes, {
      status: response.status,
      headers: response.headers,
    })
  }

  async #sent(url: URL, request: RequestInit): Promise<{ response: Response; bytes: Uint8Array<ArrayBuffer> }> {
    try {
      const response = await this.#send(url, request)
      return { response, bytes: await limited(response) }
    } catch (error) {
      // Libraries replace the error by one of their own.
      if (error instanceof TokenError) this.#refused = error
      else this.#last = { host: url.host, code: networkCode(error) }
      throw error
    }
  }

  /**
   * Runs the library until the deadline, and makes a TokenError of every failure. Texts of the library are left out:
   * they may contain what an endpoint answered.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this
    try {
      return await untilAborted(signal, work, () => signal.reason)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** Like run, for one of several ways to a credential: its failure does not depend on the previous one. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    this.#last = undefined
    this.#refused = undefined
    try {
      return await work()
    } catch (error) {
      throw this.#failure(error)
    }
  }

  #refuse(message: string): TokenError {
    this.#refused = new TokenError('Rejected', message)
    return this.#refused
  }

  #failure(error: unknown): TokenError {
    if (error instanceof TokenError) return error
    // A library may have wrapped it.
    if (this.#refused !== undefined) return this.#refused
    const last = this.#last
    if (this.signal.aborted) {
      const where = last === undefined ? '' : `; the last request went to ${last.host}`
      return new TokenError('Unavailable', `no credential within ${CLOUD_FETCH_MS / 1000} s${where}`)
    }
    if (last === undefined) return new TokenError('Unavailable', `the credential cannot be used (${kindOf(error)})`)
    if (last.status === undefined) {
      return new TokenError('Unavailable', `${last.host} cannot be reached (${last.code ?? 'no answer'})`)
    }
    if (last.status < 300) return new TokenError('Unavailable', `${last.host} gave no usable answer`)
    const code = last.code === undefined ? '' : ` (${last.code})`
    return new TokenError(
      rejects(last.status) ? 'Rejected' : 'Unavailable',
      `${last.host} answered ${last.status}${code}`,
    )
  }
}

/** The token, checked: it fits into a header field and has not expired. Its life is limited to one day. */
export function checkedToken(
  value: unknown,
  expiresMs: unknown,
): { readonly value: string; readonly expiresMs: number } {
  if (typeof value !== 'string' || value.length > TOKEN_LENGTH_MAX || !VISIBLE.test(value)) {
    throw new TokenError('Unavailable', 'the answer contains no usable token')
  }
  const now = Date.now()
  if (typeof expiresMs !== 'number' || !Number.isFinite(expiresMs)) {
    throw new TokenError('Unavailable', 'the answer contains no valid expiry of the token')
  }
  if (expiresMs < now + LIFE_MS_MIN) {
    throw new TokenError('Unavailable', 'the token of the answer has expired, or has no expiry')
  }
  return { value, expiresMs: Math.min(expiresMs, now + LIFE_MS_MAX) }
}

/** 408 and 429 may succeed later. */
function rejects(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

async function limited(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  if (response.body !== null) {
    for await (const chunk of response.body) {
      length += chunk.length
      if (length > ANSWER_BYTES_MAX) throw new TokenError('Unavailable', 'the answer of the endpoint is too large')
      chunks.push(chunk)
    }
  }
  return new Uint8Array(Buffer.concat(chunks, length))
}

/** `error` of OAuth with the code of cloudB, or `error.status` of an API of cloudC. */
function errorCode(bytes: Uint8Array): string | undefined {
  const { error, error_description: description } = recordOf(parseJson(new TextDecoder().decode(bytes)))
  const code = isRecord(error) ? error['status'] : error
  if (typeof code !== 'string' || !CODE.test(code)) return undefined
  const detail = typeof description === 'string' ? AADSTS.exec(description)?.[0] : undefined
  return detail === undefined ? code : `${code}, ${detail}`
}

function networkCode(error: unknown): string {
  let inner: unknown = error
  for (let depth = 0; depth < 5 && isRecord(inner); depth++) {
    const { code, cause } = inner
    if (typeof code === 'string' && CODE.test(code) && code.startsWith('E')) return code
    inner = cause
  }
  return 'no connection'
}

function kindOf(error: unknown): string {
  return error instanceof Error && CODE.test(error.name) ? error.name : 'unknown cause'
}
