// Whole messages of a WebSocket in one direction, with their original bytes, for a reader that replaces some of them
// (RFC 6455 section 5). Any chunk boundary gives the same messages. Independent of what the messages mean.
import { isUtf8 } from 'node:buffer'
import { randomFillSync } from 'node:crypto'
import { frameHead, WebSocketError } from './websocket-reader.ts'

/** `bytes`: all its frames. Control frames may come between the frames of a message, and are passed on before it. */
export interface WebSocketMessage {
  readonly kind: 'text' | 'binary' | 'control'
  /** Empty for other kinds. */
  readonly text: string
  readonly bytes: Buffer
}

const TEXT = 1
const BINARY = 2
const CLOSE = 8
const FINAL = 0x80
const RESERVED = 0x70
const MASKED = 0x80
const MASK_BYTES = 4
const CONTROL_BYTES_MAX = 125
const HEAD_BYTES_MIN = 2
const NOTHING = Buffer.alloc(0)
/** Frames of one message: each costs memory beside its bytes. */
const FRAMES_MAX = 4096

export interface WebSocketSide {
  /** Clients mask all their frames, servers none. */
  readonly isMasked: boolean
  /** Of all frames of one message, without their heads. */
  readonly messageBytesMax: number
}

export class WebSocketMessages {
  readonly #side: WebSocketSide
  #chunks: Buffer[] = []
  #arrived = 0
  /** Nothing is read before so many bytes have arrived. */
  #needed = HEAD_BYTES_MIN
  /** Of the message whose frames arrive. */
  #opcode: number | undefined
  #frames: Buffer[] = []
  #payloads: Buffer[] = []
  #bytes = 0

  constructor(side: WebSocketSide) {
    this.#side = side
  }

  /** Keeps `chunk`. @throws {WebSocketError} nothing after it can be read */
  push(chunk: Buffer): WebSocketMessage[] {
    this.#chunks.push(chunk)
    this.#arrived += chunk.length
    const messages: WebSocketMessage[] = []
    while (this.#arrived >= this.#needed) {
      const [only = NOTHING, ...more] = this.#chunks
      const bytes = more.length === 0 ? only : Buffer.concat(this.#chunks, this.#arrived)
      this.#chunks = [bytes]
      const length = this.#frameBytes(bytes)
      if (length === undefined) {
        this.#needed = this.#arrived + 1
        break
      }
      this.#needed = length
      if (length > bytes.length) break
      const message = this.#frame(bytes.subarray(0, length))
      if (message !== undefined) messages.push(message)
      this.#chunks = [bytes.subarray(length)]
      this.#arrived -= length
      this.#needed = HEAD_BYTES_MIN
    }
    return messages
  }

  /** With the head; undefined: the head is not complete. */
  #frameBytes(bytes: Buffer): number | undefined {
    const head = frameHead(bytes)
    if (head === undefined) return undefined
    const { isMasked, messageBytesMax } = this.#side
    if (head.isMasked !== isMasked) {
      throw new WebSocketError(isMasked ? 'a frame of the client is not masked' : 'a frame of the server is masked')
    }
    if (this.#bytes + head.payload > messageBytesMax) {
      throw new WebSocketError(`a message is larger than ${messageBytesMax} bytes`)
    }
    return head.bytes + (isMasked ? MASK_BYTES : 0) + head.payload
  }

  #frame(frame: Buffer): WebSocketMessage | undefined {
    const [first = 0] = frame
    const opcode = first & 0x0f
    const isFinal = (first & FINAL) !== 0
    if ((first & RESERVED) !== 0) throw new WebSocketError('a frame is compressed or malformed')
    const payload = this.#payload(frame)
    if (opcode >= CLOSE) {
      if (!isFinal || payload.length > CONTROL_BYTES_MAX) throw new WebSocketError('a control frame is malformed')
      return { kind: 'control', text: '', bytes: frame }
    }
    if ((opcode === 0) !== (this.#opcode !== undefined) || opcode > BINARY || this.#frames.length >= FRAMES_MAX) {
      throw new WebSocketError('a frame is out of order, has an unknown opcode, or is one of too many')
    }
    if (opcode !== 0) this.#opcode = opcode
    this.#frames.push(frame)
    this.#payloads.push(payload)
    this.#bytes += payload.length
    return isFinal ? this.#message() : undefined
  }

  #payload(frame: Buffer): Buffer {
    const head = frameHead(frame)?.bytes ?? 0
    if (!this.#side.isMasked) return frame.subarray(head)
    return masked(frame.subarray(head + MASK_BYTES), frame.subarray(head, head + MASK_BYTES))
  }

  #message(): WebSocketMessage {
    const bytes = Buffer.concat(this.#frames)
    const payload = Buffer.concat(this.#payloads, this.#bytes)
    const isText = this.#opcode === TEXT
    this.#opcode = undefined
    this.#frames = []
    this.#payloads = []
    this.#bytes = 0
    if (!isText) return { kind: 'binary', text: '', bytes }
    if (!isUtf8(payload)) throw new WebSocketError('a text message is not valid UTF-8')
    return { kind: 'text', text: payload.toString('utf8'), bytes }
  }
}

/** In one frame. */
export function textMessage(text: string, isMasked: boolean): Buffer {
  return frameOf(TEXT, Buffer.from(text), isMasked)
}

/** `reason`: shortened to what a control frame may have. ASCII. */
export function closeMessage(code: number, reason: string, isMasked: boolean): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return frameOf(CLOSE, Buffer.concat([payload, Buffer.from(reason.slice(0, CONTROL_BYTES_MAX - 2))]), isMasked)
}

/** `frame`: a control frame. */
export function isClose(frame: Buffer): boolean {
  return ((frame[0] ?? 0) & 0x0f) === CLOSE
}

function frameOf(opcode: number, payload: Buffer, isMasked: boolean): Buffer {
  const head = headOf(payload.length)
  head[0] = FINAL | opcode
  if (!isMasked) return Buffer.concat([head, payload])
  head[1] = (head[1] ?? 0) | MASKED
  const key = randomFillSync(Buffer.alloc(MASK_BYTES))
  return Buffer.concat([head, key, masked(payload, key)])
}

function headOf(length: number): Buffer {
  if (length < 126) return Buffer.from([0, length])
  if (length < 65_536) {
    const head = Buffer.from([0, 126, 0, 0])
    head.writeUInt16BE(length, 2)
    return head
  }
  const head = Buffer.alloc(10)
  head[1] = 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

/** The same function masks and unmasks. */
function masked(payload: Buffer, key: Buffer): Buffer {
  const out = Buffer.from(payload)
  for (let i = 0; i < out.length; i++) out[i] = (out[i] ?? 0) ^ (key[i & 3] ?? 0)
  return out
}
