// Incremental reader of application/vnd.amazon.eventstream. Any chunk boundary gives the same messages, and both
// checksums of each message are checked. Layout: total bytes (4), header bytes (4), CRC-32 of these (4), headers,
// payload, CRC-32 of all before it (4); a header is a name (1 byte of length), a type and a value (AWS, "Event stream
// encoding").
import { crc32 } from 'node:zlib'

export interface StreamMessage {
  /** Only headers whose value is a string: those that name what the message is. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Buffer
}

/** A message is malformed or larger than the limit; nothing after it can be read. */
export class EventStreamError extends Error {}

const PRELUDE_BYTES = 12
const CRC_BYTES = 4
const BYTES_MIN = PRELUDE_BYTES + CRC_BYTES

const STRING = 7
/** Bytes of a value by its type; -1: two bytes of length stand before it. */
const VALUE_BYTES: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]

export class EventStreamReader {
  readonly #messageBytesMax: number
  /** The beginning of a message that is not complete; joined only when it is, so that its bytes are copied twice. */
  #held: Buffer[] = []
  #heldBytes = 0
  #neededBytes = PRELUDE_BYTES

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax
  }

  /** @throws {EventStreamError} */
  push(chunk: Buffer): StreamMessage[] {
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#neededBytes) {
      // The owner of a chunk may reuse it.
      this.#held.push(Buffer.from(chunk))
      return []
    }
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([...this.#held, chunk], this.#heldBytes)
    const messages: StreamMessage[] = []
    for (;;) {
      const bytes = this.#messageBytes(rest)
      this.#neededBytes = bytes ?? PRELUDE_BYTES
      if (bytes === undefined || rest.length < bytes) break
      messages.push(messageOf(rest.subarray(0, bytes)))
      rest = rest.subarray(bytes)
    }
    this.#held = rest.length === 0 ? [] : [Buffer.from(rest)]
    this.#heldBytes = rest.length
    return messages
  }

  /** @throws {EventStreamError} when the stream ended within a message. */
  end(): void {
    if (this.#heldBytes > 0) throw new EventStreamError('the event stream ended within a message')
  }

  /** Of the message that begins here; undefined: its length is not there yet. */
  #messageBytes(bytes: Buffer): number | undefined {
    if (bytes.length < PRELUDE_BYTES) return undefined
    const total = bytes.readUInt32BE(0)
    const headers = bytes.readUInt32BE(4)
    if (bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) {
      throw new EventStreamError('the event stream has a message with a wrong checksum of its lengths')
    }
    if (total > this.#messageBytesMax) {
      throw new EventStreamError(`a message of the event stream is larger than ${this.#messageBytesMax} bytes`)
    }
    if (total < BYTES_MIN + headers) throw new EventStreamError('the event stream has a message with invalid lengths')
    return total
  }
}

function messageOf(bytes: Buffer): StreamMessage {
  const end = bytes.length - CRC_BYTES
  if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(0, end))) {
    throw new EventStreamError('the event stream has a message with a wrong checksum')
  }
  const headersEnd = PRELUDE_BYTES + bytes.readUInt32BE(4)
  return {
    headers: headersOf(bytes.subarray(PRELUDE_BYTES, headersEnd)),
    payload: Buffer.from(bytes.subarray(headersEnd, end)),
  }
}

function headersOf(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw new EventStreamError('the event stream has a message with invalid headers')
    at += count
    return bytes.subarray(at - count, at)
  }
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString('utf8')
    const type = take(1).readUInt8()
    const fixed = VALUE_BYTES[type]
    if (fixed === undefined) throw new EventStreamError('the event stream has a header of an unknown type')
    const value = take(fixed < 0 ? take(2).readUInt16BE() : fixed)
    if (type === STRING) headers.set(name, value.toString('utf8'))
  }
  return headers
}
