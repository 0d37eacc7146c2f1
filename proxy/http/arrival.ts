// An accepted connection whose PROXY header has yet to come. Nothing of HTTP is read before it is whole.
import { PROXY_HEADER_TIMEOUT_MS, type ProxyRule, readProxyHeader } from '../socket/proxy-header.ts'
import type { TransportedAddresses } from '../socket/proxy-header.ts'
import { NO_USER, type Transport, type TransportUser } from '../socket/transport.ts'

export type ArrivalOutcome =
  /** `bytes`: those behind the header, valid during the call only. */
  | { readonly addresses: TransportedAddresses | undefined; readonly bytes: Buffer }
  /** The connection is closed. `detail`: undefined when the peer left without a byte, as health checks do. */
  | { readonly detail: string | undefined }

const NOTHING = Buffer.alloc(0)

export class Arrival implements TransportUser {
  readonly #transport: Transport
  readonly #rule: ProxyRule
  readonly #done: (outcome: ArrivalOutcome) => void
  readonly #timer: NodeJS.Timeout
  #seen: Buffer = NOTHING
  #isOver = false

  /** `done`: called once. Then the transport has no user, and waits for one if the connection continues. */
  constructor(transport: Transport, rule: ProxyRule, done: (outcome: ArrivalOutcome) => void) {
    this.#transport = transport
    this.#rule = rule
    this.#done = done
    this.#timer = setTimeout(() => this.#late(), PROXY_HEADER_TIMEOUT_MS).unref()
    transport.user = this
  }

  destroy(): void {
    this.#refuse(undefined)
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    const range = buffer.subarray(start, end)
    const all = this.#seen.length === 0 ? range : Buffer.concat([this.#seen, range])
    const outcome = readProxyHeader(all, this.#rule)
    if (outcome.kind === 'More') this.#seen = all === range ? Buffer.from(range) : all
    else if (outcome.kind === 'Invalid') this.#refuse(outcome.detail)
    else if (outcome.kind === 'Plain') this.#finish({ addresses: undefined, bytes: all })
    else this.#finish({ addresses: outcome.addresses, bytes: all.subarray(outcome.length) })
  }

  ended(): void {
    this.#refuse(
      this.#seen.length === 0 ? undefined : 'the peer closed the connection in the middle of its PROXY header',
    )
  }

  drained(): void {}

  closed(): void {
    this.ended()
  }

  #late(): void {
    // A client that has not spoken cannot have begun a header.
    if (this.#seen.length === 0 && !this.#rule.isRequired) this.#finish({ addresses: undefined, bytes: NOTHING })
    else this.#refuse('timeout while waiting for the PROXY header')
  }

  #refuse(detail: string | undefined): void {
    this.#finish({ detail })
  }

  #finish(outcome: ArrivalOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#transport.user = NO_USER
    if (!('bytes' in outcome)) this.#transport.destroy()
    this.#done(outcome)
  }
}
