// Incremental reader of the text messages that a WebSocket server sends (RFC 6455 section 5.2). Any chunk boundary
// gives the same messages. Only observes: control frames are not answered, and binary messages are not kept.

/** Nothing after it can be read. */
export class WebSocketError extends Error {}

const TEXT = 1
const BINARY = 2
const CONTROL = 8
const FINAL = 0x80
const RESERVED = 0x70
const MASKED = 0x80
/** With the longest length, without a mask. */
const HEAD_BYTES_MAX = 10

export class WebSocketReader {
  readonly #messageBytesMax: number
  #head: Buffer = Buffer.alloc(0)
  /** Bytes of the current frame that have not arrived. */
  #missing = 0
  #isFinal = false
  #isKept = false
  /** Of the message whose fragments arrive: control frames may stand between them. */
  #isText = false
  readonly #parts: Buffer[] = []
  #bytes = 0

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax
  }

  /** @throws {WebSocketError} if a message is too large, or a frame is masked or compressed. */
  push(chunk: Buffer): string[] {
    const messages: string[] = []
    let rest = chunk
    while (rest.length > 0) {
      if (this.#missing === 0) rest = this.#readHead(rest)
      const part = rest.subarray(0, this.#missing)
      rest = rest.subarray(part.length)
      this.#missing -= part.length
      if (this.#isKept && part.length > 0) this.#keep(part)
      if (this.#missing === 0 && this.#isKept && this.#isFinal) messages.push(this.#message())
    }
    return messages
  }

  /** The rest behind the head of a frame; empty if the head is not complete. */
  #readHead(bytes: Buffer): Buffer {
    const held = this.#head.length
    const head = Buffer.concat([this.#head, bytes.subarray(0, HEAD_BYTES_MAX - held)])
    const length = lengthIn(head)
    if (length === undefined) {
      this.#head = head
      this.#isKept = false
      return bytes.subarray(bytes.length)
    }
    this.#head = Buffer.alloc(0)
    this.#begin(head[0] ?? 0, length.payload)
    return bytes.subarray(length.head - held)
  }

  #begin(first: number, payload: number): void {
    if ((first & RESERVED) !== 0) throw new WebSocketError('a frame is compressed or malformed')
    const opcode = first & 0x0f
    const isControl = opcode >= CONTROL
    if (!isControl && opcode !== 0) this.#isText = opcode === TEXT
    if (!isControl && opcode > BINARY) throw new WebSocketError('a frame has an unknown opcode')
    this.#missing = payload
    this.#isFinal = (first & FINAL) !== 0
    this.#isKept = !isControl && this.#isText
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes > this.#messageBytesMax) {
      throw new WebSocketError(`a message is larger than ${this.#messageBytesMax} bytes`)
    }
    // The owner of a chunk may reuse it.
    this.#parts.push(Buffer.from(part))
  }

  #message(): string {
    const text = Buffer.concat(this.#parts, this.#bytes).toString('utf8')
    this.#parts.length = 0
    this.#bytes = 0
    this.#isKept = false
    return text
  }
}

/** undefined: more bytes are needed. */
function lengthIn(bytes: Buffer): { readonly head: number; readonly payload: number } | undefined {
  const head = frameHead(bytes)
  if (head === undefined) return undefined
  if (head.isMasked) throw new WebSocketError('a frame of the server is masked')
  return { head: head.bytes, payload: head.payload }
}

export interface FrameHead {
  /** Of the head, without a mask. */
  readonly bytes: number
  readonly isMasked: boolean
  readonly payload: number
}

/** undefined: more bytes are needed. @throws {WebSocketError} */
export function frameHead(frame: Buffer): FrameHead | undefined {
  const second = frame[1]
  if (second === undefined) return undefined
  const isMasked = (second & MASKED) !== 0
  const length = second & ~MASKED
  if (length < 126) return { bytes: 2, isMasked, payload: length }
  if (length === 126) return frame.length < 4 ? undefined : { bytes: 4, isMasked, payload: frame.readUInt16BE(2) }
  if (frame.length < HEAD_BYTES_MAX) return undefined
  const payload = frame.readBigUInt64BE(2)
  if (payload > BigInt(Number.MAX_SAFE_INTEGER)) throw new WebSocketError('a frame has an invalid length')
  return { bytes: HEAD_BYTES_MAX, isMasked, payload: Number(payload) }
}
