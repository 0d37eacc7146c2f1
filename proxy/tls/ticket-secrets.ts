// The secrets that session tickets are sealed with: random, shared by all workers, replaced by the hour. The one before
// is still read for another hour; then it is overwritten, and nothing opens tickets of its time any more. Never logged.
import { randomFillSync } from 'node:crypto'

/** Written by the main thread only. One word that counts turns (odd while it is written), then two secrets. */
export type SharedTicketSecrets = SharedArrayBuffer

export const TICKET_PERIOD_MS = 3_600_000

const SECRET_BYTES = 32
const HEAD_BYTES = 4
/** A turn takes microseconds, and half of them are even. */
const READS_MAX = 1000

export function createTicketSecrets(): SharedTicketSecrets {
  const shared = new SharedArrayBuffer(HEAD_BYTES + 2 * SECRET_BYTES)
  // The place of the secret before is random as well: there is no state in which a known key opens tickets.
  randomFillSync(new Uint8Array(shared, HEAD_BYTES))
  return shared
}

/** A new secret takes the place of the current one, which becomes the one before. */
export function rotateTicketSecrets(shared: SharedTicketSecrets): void {
  const turn = new Int32Array(shared, 0, 1)
  const secrets = new Uint8Array(shared, HEAD_BYTES)
  Atomics.add(turn, 0, 1)
  secrets.copyWithin(SECRET_BYTES, 0, SECRET_BYTES)
  randomFillSync(secrets.subarray(0, SECRET_BYTES))
  Atomics.add(turn, 0, 1)
}

export interface TicketTurn {
  readonly turn: number
  readonly current: Uint8Array
  readonly previous: Uint8Array
}

/** How a worker reads them. */
export class TicketSecrets {
  readonly #turn: Int32Array
  readonly #secrets: Uint8Array

  constructor(shared: SharedTicketSecrets) {
    this.#turn = new Int32Array(shared, 0, 1)
    this.#secrets = new Uint8Array(shared, HEAD_BYTES)
  }

  /** What is in force if that is not `known`; undefined: nothing has changed. Called for each handshake. */
  changedSince(known: number | undefined): TicketTurn | undefined {
    for (let read = 0; read < READS_MAX; read++) {
      const turn = Atomics.load(this.#turn, 0)
      if (turn === known) return undefined
      const copy = this.#secrets.slice()
      if (turn % 2 === 0 && Atomics.load(this.#turn, 0) === turn) {
        return { turn, current: copy.subarray(0, SECRET_BYTES), previous: copy.subarray(SECRET_BYTES) }
      }
    }
    return undefined
  }
}
