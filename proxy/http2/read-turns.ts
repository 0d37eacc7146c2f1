// How many frames of one connection are handled before other connections get their turn. node:http2 reads a socket
// until it is empty, up to 2 MB at a time: with frames of ten bytes that keeps the event loop busy for a second.
import type net from 'node:net'

/** Then the socket is left alone until the next turn of the event loop. What was read by then is handled still. */
export const FRAMES_PER_TURN = 1024
/** From here on the end of the turn is watched: most turns have fewer frames, and cost nothing. */
const WATCHED_FRAMES = 256

/** An internal of node: node:http2 takes the socket over and offers no way to pause it. */
interface Handle {
  readStart?(): unknown
  readStop?(): unknown
  /** Bytes that wait to be written. */
  readonly writeQueueSize?: number
}

export class ReadTurns {
  readonly #socket: net.Socket
  #frames = 0
  #isResting = false

  /** Where the socket has no handle of the system, as one within a tunnel, nothing is held back. */
  constructor(socket: net.Socket) {
    this.#socket = socket
  }

  /** A frame that costs the proxy something. */
  frame(): void {
    const frames = ++this.#frames
    if (frames === WATCHED_FRAMES) setImmediate(nextTurn, this)
    else if (frames === FRAMES_PER_TURN) this.#rest()
  }

  /** For `nextTurn`. */
  begin(): void {
    this.#frames = 0
    if (!this.#isResting) return
    this.#isResting = false
    // While a write is under way node:http2 does not read, and reads on by itself when it is done.
    const handle = this.#handle
    if (handle !== undefined && (handle.writeQueueSize ?? 0) === 0) handle.readStart?.()
  }

  #rest(): void {
    const handle = this.#handle
    if (handle?.readStop === undefined) return
    handle.readStop()
    this.#isResting = true
  }

  get #handle(): Handle | undefined {
    if (this.#socket.destroyed) return undefined
    // The member is not part of the types.
    return (this.#socket as unknown as { readonly _handle?: Handle | null })._handle ?? undefined
  }
}

function nextTurn(turns: ReadTurns): void {
  turns.begin()
}
