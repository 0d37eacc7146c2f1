// What the name of a target leads to while connections are open: those to addresses that it no longer has are given up
// (data-plane supplement section 5.3, connections belong to a resolved address), and an address that fails comes last.
import { isIP } from 'node:net'
import type { DnsCache } from './dns-cache.ts'
import type { UpstreamTarget } from './target.ts'

export class NamedAddresses {
  readonly #host: string
  /** undefined: an address, a unix socket, or a name that a proxy on the way resolves. Nothing ever changes then. */
  readonly #dns: DnsCache | undefined
  #seen: readonly string[] = []

  constructor({ host, unixPath, tunnel, guard }: UpstreamTarget, dns: DnsCache) {
    const isResolved = unixPath === undefined && tunnel === undefined && isIP(host) === 0
    this.#host = host
    this.#dns = isResolved ? (guard?.dns ?? dns) : undefined
  }

  /** There is a new answer since the last call. Also sees to it that there will be, when the answer is too old. */
  get isNew(): boolean {
    const known = this.#dns?.known(this.#host) ?? this.#seen
    const isNew = known !== this.#seen
    this.#seen = known
    return isNew
  }

  /** `address` undefined: the address of a connection is unknown. */
  has(address: string | undefined): boolean {
    if (this.#dns === undefined || address === undefined) return true
    const known = this.#dns.known(this.#host)
    return known.length === 0 || known.includes(address)
  }

  failed(address: string): void {
    this.#dns?.failed(this.#host, address)
  }
}

/** How long one of several addresses may take, so that the others have their time as well. */
export function shareOf(deadlineMs: number, addresses: number): number {
  return Math.max(0, deadlineMs - performance.now()) / Math.max(1, addresses)
}
