// Calls the identity provider for clients of the gateway. Its metadata is cached: any client may request it, and the
// provider must not have the load.
import { isRecord, parseJson } from '#api/json.ts'
import { type ServiceCaller, ServiceError } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import type { HttpResponse } from '../../../message/message.ts'
import type { OriginPlace } from '../../../chain/environment.ts'
import type { Metadata } from './identity-provider.ts'

const METADATA_MS = 300_000
/** While the provider does not answer, its last metadata stays in use. */
const STALE_MS = 3_600_000
const FETCH_MS = 10_000
const ANSWER_BYTES_MAX = 256 * 1024
/** Of metadata places: the product has it at another one. */
const NOT_HERE: ReadonlySet<number> = new Set([400, 404, 405])

export interface IssuerMessage {
  readonly method: 'GET' | 'POST'
  readonly headers: HeaderList
  readonly body: Buffer | undefined
  /** See ServiceHttpRequest. */
  readonly detached?: AbortSignal
}

export class IssuerClient {
  readonly #origin: (place: OriginPlace) => ServiceCaller
  readonly #urls: readonly string[]
  readonly #now: () => number
  #metadata: { readonly value: Metadata; readonly atMs: number } | undefined = undefined
  #pending: Promise<Metadata> | undefined = undefined

  /** `urls`: the places of its metadata, all of one origin, in the order in which they are tried. */
  constructor(
    origin: (place: OriginPlace) => ServiceCaller,
    urls: readonly string[],
    now: () => number = () => performance.now(),
  ) {
    this.#origin = origin
    this.#urls = urls
    this.#now = now
  }

  /** @throws {ServiceError} */
  metadata(exchange: Exchange): Metadata | Promise<Metadata> {
    const known = this.#metadata
    if (known !== undefined && this.#now() < known.atMs + METADATA_MS) return known.value
    this.#pending ??= this.#fetch(exchange).finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  /**
   * Sends a request of a client to an endpoint of the provider, whose document may name any: only those at the
   * origin of the issuer are called.
   * @throws {ServiceError}
   */
  send(exchange: Exchange, url: string, message: IssuerMessage): Promise<HttpResponse> {
    const [first] = this.#urls
    if (first === undefined || URL.parse(url)?.origin !== new URL(first).origin) {
      return Promise.reject(new ServiceError(`${url} is not at the origin of the issuer`))
    }
    return this.#call(exchange, url, message)
  }

  #call(exchange: Exchange, text: string, message: IssuerMessage): Promise<HttpResponse> {
    const { protocol, hostname, host, port, pathname, search } = new URL(text)
    const isTls = protocol === 'https:'
    const standard = isTls ? 443 : 80
    const caller = this.#origin({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? standard : Number(port),
      isTls,
    })
    const target = { authority: host, path: pathname, query: search.slice(1), answerBytesMax: ANSWER_BYTES_MAX }
    return caller.http(exchange, { ...message, ...target })
  }

  async #fetch(exchange: Exchange): Promise<Metadata> {
    try {
      const value = await this.#fetchFirst(exchange)
      this.#metadata = { value, atMs: this.#now() }
      return value
    } catch (error) {
      const known = this.#metadata
      if (!(error instanceof ServiceError) || known === undefined) throw error
      if (this.#now() >= known.atMs + STALE_MS) throw error
      exchange.trace?.note(`metadata of the issuer from before: ${error.message}`)
      return known.value
    }
  }

  async #fetchFirst(exchange: Exchange): Promise<Metadata> {
    const headers = HeaderList.of([['accept', 'application/json']])
    let failure = 'the issuer is not a URL'
    for (const url of this.#urls) {
      const detached = AbortSignal.timeout(FETCH_MS)
      const response = await this.#call(exchange, url, { method: 'GET', headers, body: undefined, detached })
      const { status, body } = response
      if (status === 200) {
        const value = Buffer.isBuffer(body) ? parsed(body.toString('utf8')) : undefined
        if (value === undefined) throw new ServiceError(`${url} did not return a JSON object`)
        return value
      }
      failure = `${url} returned status ${status}`
      if (!NOT_HERE.has(status)) break
    }
    throw new ServiceError(failure)
  }
}

function parsed(text: string): Metadata | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
