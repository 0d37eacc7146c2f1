// A connection of the HTTP/1.1 pool between `connect` and ready (with TLS: after the handshake).
import tls from 'node:tls'
import { type Detail, peerProblem, setupProblem } from '../exchange/diagnosis.ts'
import type { DeadlineWheel, Expiring } from '../socket/deadlines.ts'
import type { Transport, TransportUser } from '../socket/transport.ts'

export interface ConnectingOptions {
  readonly wheel: DeadlineWheel
  readonly deadlineMs: number
  readonly open: (user: TransportUser) => Transport
  readonly opened: (transport: Transport) => void
  readonly failed: (detail: Detail) => void
  readonly timedOut: () => void
}

/** Exactly one of three outcomes. */
export class Connecting implements TransportUser, Expiring {
  readonly #options: ConnectingOptions
  #transport: Transport | undefined = undefined
  #slot = 0
  #isOver = false

  constructor(options: ConnectingOptions) {
    this.#options = options
  }

  begin(): void {
    const { wheel, deadlineMs, open, opened, failed } = this.#options
    this.#slot = wheel.add(this, deadlineMs)
    let transport: Transport
    try {
      transport = open(this)
    } catch (error) {
      // A certificate or key that cannot be used.
      if (this.#finish()) failed(setupProblem(error))
      return
    }
    this.#transport = transport
    transport.socket.once(transport.socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect', () => {
      if (!this.#finish()) return
      opened(transport)
    })
  }

  expired(): void {
    if (!this.#finish()) return
    this.#transport?.destroy()
    this.#options.timedOut()
  }

  closed(error: Error | undefined): void {
    if (this.#finish()) this.#options.failed(peerProblem(error, 'closed while connecting'))
  }

  bytes(): void {
    // A server that talks first does not speak HTTP.
    this.#transport?.destroy()
  }

  ended(): void {
    this.#transport?.destroy()
  }

  drained(): void {}

  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#options.wheel.remove(this, this.#slot)
    return true
  }
}
