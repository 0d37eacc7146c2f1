// Bytes of one client connection that no metric has yet. Asks the socket once a second, and never per request.
import type net from 'node:net'
import type { ExchangePlace } from '../exchange/facts.ts'

export interface TransferredBytes {
  /** Of the latest request of the connection; undefined: there was none. */
  readonly place: ExchangePlace | undefined
  readonly isTls: boolean
  readonly received: number
  readonly sent: number
}

export interface TransferObserver {
  transferred(bytes: TransferredBytes): void
}

export class ByteMeter {
  /** Whose bytes they are: the latest request's. */
  place: ExchangePlace | undefined = undefined
  readonly #socket: Pick<net.Socket, 'bytesRead' | 'bytesWritten'>
  readonly #isTls: boolean
  #received = 0
  #sent = 0

  constructor(socket: Pick<net.Socket, 'bytesRead' | 'bytesWritten'>, isTls: boolean) {
    this.#socket = socket
    this.#isTls = isTls
  }

  /** What moved since the last call, if anything did. `running`: the request that is under way. */
  report(to: TransferObserver, running?: { readonly place: ExchangePlace | undefined }): void {
    const { bytesRead, bytesWritten } = this.#socket
    const received = bytesRead - this.#received
    const sent = bytesWritten - this.#sent
    // What is no TCP or TLS socket may count neither, and the difference is no number then.
    if (!(received > 0 || sent > 0)) return
    this.#received = bytesRead
    this.#sent = bytesWritten
    to.transferred({ place: running?.place ?? this.place, isTls: this.#isTls, received, sent })
  }
}
