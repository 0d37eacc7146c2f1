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
const ANSWER_BYTES_MAX = 256 * 1024

export interface IssuerMessage {
  readonly method: 'GET' | 'POST'
  readonly headers: HeaderList
  readonly body: Buffer | undefined
}

export class IssuerClient {
  readonly #origin: (place: OriginPlace) => ServiceCaller
  readonly #now: () => number
  #metadata: { readonly value: Metadata; readonly untilMs: number } | undefined = undefined
  #pending: Promise<Metadata> | undefined = undefined

  constructor(origin: (place: OriginPlace) => ServiceCaller, now: () => number = () => performance.now()) {
    this.#origin = origin
    this.#now = now
  }

  /** @throws {ServiceError} */
  metadata(exchange: Exchange, url: string): Metadata | Promise<Metadata> {
    if (this.#metadata !== undefined && this.#now() < this.#metadata.untilMs) return this.#metadata.value
    this.#pending ??= this.#fetch(exchange, url).finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  /** @throws {ServiceError} */
  send(exchange: Exchange, text: string, { method, headers, body }: IssuerMessage): Promise<HttpResponse> {
    const { protocol, hostname, host, port, pathname, search } = new URL(text)
    const isTls = protocol === 'https:'
    const standard = isTls ? 443 : 80
    const caller = this.#origin({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? standard : Number(port),
      isTls,
    })
    const message = { method, authority: host, path: pathname, query: search.slice(1), headers, body }
    return caller.http(exchange, { ...message, answerBytesMax: ANSWER_BYTES_MAX })
  }

  async #fetch(exchange: Exchange, url: string): Promise<Metadata> {
    const headers = HeaderList.of([['accept', 'application/json']])
    const response = await this.send(exchange, url, { method: 'GET', headers, body: undefined })
    if (response.status !== 200) throw new ServiceError(`${url} returned status ${response.status}`)
    const value = Buffer.isBuffer(response.body) ? parsed(response.body.toString('utf8')) : undefined
    if (value === undefined) throw new ServiceError(`${url} did not return a JSON object`)
    this.#metadata = { value, untilMs: this.#now() + METADATA_MS }
    return value
  }
}

function parsed(text: string): Metadata | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
