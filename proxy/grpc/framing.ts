// Length-prefixed messages (gRPC over HTTP/2): one byte of flags, four bytes of length, the message. No compression:
// the client announces none, so a compressed message is an error of the peer.
import { GrpcError, GrpcStatus } from './status.ts'

const PREFIX_BYTES = 5

export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, PREFIX_BYTES)
  return frame
}

/** Splits a stream of bytes into messages, wherever the chunks end. */
export class MessageReader {
  readonly #bytesMax: number
  readonly #prefix = Buffer.alloc(PREFIX_BYTES)
  #prefixBytes = 0
  #message: Buffer | undefined = undefined
  #messageBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** False while a message is incomplete. */
  get isAtBoundary(): boolean {
    return this.#prefixBytes === 0 && this.#message === undefined
  }

  /**
   * Calls `onMessage` for each complete message. Messages inside `chunk` share its memory. @throws {GrpcError} for an
   * invalid message, or one that is too large.
   */
  push(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#message === undefined) {
        at += this.#readPrefix(chunk, at)
        if (this.#prefixBytes < PREFIX_BYTES) return
        const length = this.#lengthOf()
        if (chunk.length - at >= length) {
          this.#prefixBytes = 0
          onMessage(chunk.subarray(at, at + length))
          at += length
          continue
        }
        this.#message = Buffer.allocUnsafe(length)
        this.#messageBytes = 0
      }
      at += this.#readMessage(this.#message, chunk, at, onMessage)
    }
  }

  #readPrefix(chunk: Buffer, at: number): number {
    const taken = Math.min(PREFIX_BYTES - this.#prefixBytes, chunk.length - at)
    chunk.copy(this.#prefix, this.#prefixBytes, at, at + taken)
    this.#prefixBytes += taken
    return taken
  }

  #lengthOf(): number {
    if (this.#prefix[0] !== 0) throw new GrpcError(GrpcStatus.INTERNAL, 'the peer sent a compressed message')
    const length = this.#prefix.readUInt32BE(1)
    if (length > this.#bytesMax) {
      throw new GrpcError(GrpcStatus.RESOURCE_EXHAUSTED, `a message of ${length} bytes exceeds ${this.#bytesMax}`)
    }
    return length
  }

  #readMessage(message: Buffer, chunk: Buffer, at: number, onMessage: (message: Buffer) => void): number {
    const taken = Math.min(message.length - this.#messageBytes, chunk.length - at)
    chunk.copy(message, this.#messageBytes, at, at + taken)
    this.#messageBytes += taken
    if (this.#messageBytes === message.length) {
      this.#message = undefined
      this.#prefixBytes = 0
      onMessage(message)
    }
    return taken
  }
}
