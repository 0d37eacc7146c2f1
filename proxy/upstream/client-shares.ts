// How much of what a backend can take one client may use: at most three times of what is left. A client alone gets
// three quarters, and however many there are, something is left for the next one. Nothing is kept between requests.

/** What one client uses at present. */
export interface Share {
  count: number
}

const SHARE_OF_FREE = 3
/** An IPv6 client has a network of 64 bits, and as many addresses as it likes. */
const NETWORK_GROUPS = 4

export class ClientShares {
  readonly #shares = new Map<string, Share>()
  /** A client that sends one request after the other. */
  #last: { readonly address: string; readonly share: Share } | undefined = undefined

  of(address: string): Share {
    if (this.#last?.address === address) return this.#last.share
    const client = clientOf(address)
    const share = this.#shares.get(client) ?? { count: 0 }
    this.#shares.set(client, share)
    this.#last = { address, share }
    return share
  }

  /** Forgets clients that use nothing. */
  sweep(): void {
    this.#last = undefined
    for (const [client, { count }] of this.#shares) if (count === 0) this.#shares.delete(client)
  }
}

/** `free`: the unused part. */
export function mayTakeMore({ count }: Share, free: number): boolean {
  return count < SHARE_OF_FREE * free
}

/** The address, or the network of an IPv6 address. */
export function clientOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const [front, back] = [groupsOf(head), groupsOf(tail)]
  const zeros = address.includes('::') ? 8 - front.length - back.length : 0
  return [...front, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...back]
    .slice(0, NETWORK_GROUPS)
    .join(':')
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':')
}
