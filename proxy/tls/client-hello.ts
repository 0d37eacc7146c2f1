// Reads the server name out of a TLS ClientHello (RFC 8446 section 4.1.2, RFC 6066 section 3) without taking part in
// the handshake. Bounded in every length; never throws for what a client sent.
import { isHostName } from '../message/authority.ts'

export type HelloOutcome =
  /** Valid so far, but not whole. */
  | { readonly kind: 'More' }
  /** `serverName`: lower case, without a trailing dot; undefined when the client named none. */
  | {
      readonly kind: 'Hello'
      readonly serverName: string | undefined
      /** Names of the keys that sealed its session tickets, as far as they are tickets. */
      readonly ticketNames: readonly Buffer[]
    }
  | { readonly kind: 'Invalid'; readonly detail: string }

/**
 * Bytes of a connection that are looked at for a ClientHello. Hellos with post-quantum key shares have 2 KiB, large
 * session tickets some more; what is larger than this is an attack.
 */
export const HELLO_BYTES_MAX = 32_768

/** The detail of a ClientHello whose fault is the name that it asks for. */
export const BAD_SERVER_NAME = 'the server name is not valid'

const HANDSHAKE_RECORD = 22
const CLIENT_HELLO = 1
const RECORD_HEAD = 5
const MESSAGE_HEAD = 4
/** RFC 8446 section 5.1. */
const RECORD_BYTES_MAX = 16_384
/** Fragments of one ClientHello; more only cost time. */
const RECORDS_MAX = 16
const TOO_LARGE = 'the ClientHello is too large'
const SERVER_NAME = 0
const HOST_NAME = 0
const SESSION_TICKET = 35
const PRE_SHARED_KEY = 41
/** What a ticket of OpenSSL begins with. */
const TICKET_NAME_BYTES = 16
/** Clients offer one; more than a few only cost time. */
const TICKETS_MAX = 4
/** RFC 1035 section 2.3.4, with room for the trailing dot. */
const NAME_BYTES_MAX = 254

const MORE: HelloOutcome = { kind: 'More' }

/** `bytes`: everything that has arrived, from the first byte of the connection. */
export function readClientHello(bytes: Buffer): HelloOutcome {
  const message = messageOf(bytes)
  if ('kind' in message) return message
  return helloOf(new Reader(message.body))
}

/** The first handshake message, put together from its records: it may be spread over a few. */
function messageOf(bytes: Buffer): { readonly body: Buffer } | HelloOutcome {
  const parts: Buffer[] = []
  let gathered = 0
  let at = 0
  while (parts.length < RECORDS_MAX) {
    const record = recordAt(bytes, at)
    if ('kind' in record) {
      const isTooLarge = record.kind === 'More' && bytes.length >= HELLO_BYTES_MAX
      return isTooLarge ? invalid(TOO_LARGE) : record
    }
    parts.push(record.payload)
    gathered += record.payload.length
    at = record.end
    if (gathered < MESSAGE_HEAD) continue
    const start = Buffer.concat(parts)
    if (start[0] !== CLIENT_HELLO) return invalid('the first message is not a ClientHello')
    const length = start.readUIntBE(1, 3)
    if (length > HELLO_BYTES_MAX) return invalid(TOO_LARGE)
    if (gathered >= MESSAGE_HEAD + length) return { body: start.subarray(MESSAGE_HEAD, MESSAGE_HEAD + length) }
  }
  return invalid('the ClientHello has too many records')
}

function recordAt(bytes: Buffer, at: number): { readonly payload: Buffer; readonly end: number } | HelloOutcome {
  // What can be refused is refused with the first byte, so that other protocols need not wait for a deadline.
  if (at < bytes.length && bytes[at] !== HANDSHAKE_RECORD) return invalid('not a TLS handshake')
  if (at + 1 < bytes.length && bytes[at + 1] !== 3) return invalid('not a TLS version')
  if (at + RECORD_HEAD > bytes.length) return MORE
  const length = bytes.readUInt16BE(at + 3)
  // Empty handshake records are forbidden (RFC 8446 section 5.1) and would make the loop free of charge.
  if (length === 0 || length > RECORD_BYTES_MAX) return invalid('a record has an invalid length')
  const end = at + RECORD_HEAD + length
  if (end > bytes.length) return MORE
  return { payload: bytes.subarray(at + RECORD_HEAD, end), end }
}

function helloOf(reader: Reader): HelloOutcome {
  const VERSION_AND_RANDOM = 34
  reader.skip(VERSION_AND_RANDOM)
  reader.skip(reader.uint8())
  reader.skip(reader.uint16())
  reader.skip(reader.uint8())
  if (reader.isBroken) return invalid('the ClientHello is cut short')
  if (reader.isAtEnd) return { kind: 'Hello', serverName: undefined, ticketNames: [] }
  const extensions = reader.sub(reader.uint16())
  if (reader.isBroken || !reader.isAtEnd) return invalid('the extensions have a wrong length')
  let name: string | undefined
  let hasName = false
  let ticketNames: readonly Buffer[] = []
  while (!extensions.isAtEnd) {
    const type = extensions.uint16()
    const body = extensions.sub(extensions.uint16())
    if (extensions.isBroken) return invalid('an extension has a wrong length')
    if (type === SERVER_NAME) {
      const found = hasName ? undefined : serverNameOf(body)
      if (found === undefined) return invalid(BAD_SERVER_NAME)
      name = found
      hasName = true
    } else if (type === SESSION_TICKET) ticketNames = ticketNameOf(body, ticketNames)
    else if (type === PRE_SHARED_KEY) ticketNames = pskNamesOf(body)
  }
  return { kind: 'Hello', serverName: name, ticketNames }
}

/** RFC 5077 section 3.2, of TLS 1.2: the ticket itself, or nothing where the client only asks for one. */
function ticketNameOf(body: Reader, known: readonly Buffer[]): readonly Buffer[] {
  const name = body.take(TICKET_NAME_BYTES)
  return body.isBroken || known.length > 0 ? known : [Buffer.from(name)]
}

/** RFC 8446 section 4.2.11. What is malformed here is left to the handshake. */
function pskNamesOf(body: Reader): readonly Buffer[] {
  const AGE_BYTES = 4
  const identities = body.sub(body.uint16())
  const names: Buffer[] = []
  while (!identities.isAtEnd && names.length < TICKETS_MAX) {
    const identity = identities.sub(identities.uint16())
    identities.skip(AGE_BYTES)
    const name = identity.take(TICKET_NAME_BYTES)
    if (!identity.isBroken && !identities.isBroken) names.push(Buffer.from(name))
  }
  return names
}

/** undefined: not valid. Exactly one name of the only type there is. */
function serverNameOf(body: Reader): string | undefined {
  const list = body.sub(body.uint16())
  const type = list.uint8()
  const bytes = list.take(list.uint16())
  const isWhole = !body.isBroken && body.isAtEnd && !list.isBroken && list.isAtEnd
  return isWhole && type === HOST_NAME ? hostName(bytes) : undefined
}

function hostName(bytes: Buffer): string | undefined {
  if (bytes.length > NAME_BYTES_MAX) return undefined
  const name = bytes.toString('latin1').toLowerCase()
  // With an empty label it would miss the listener of its name, and reach the one of all names.
  if (!isHostName(name)) return undefined
  return name.endsWith('.') ? name.slice(0, -1) : name
}

function invalid(detail: string): HelloOutcome {
  return { kind: 'Invalid', detail }
}

const NOTHING = Buffer.alloc(0)

/** Reads forward; what lies beyond the end reads as 0 and breaks the reader for good. */
class Reader {
  isBroken = false
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.isBroken || this.#at >= this.#bytes.length
  }

  uint8(): number {
    return this.#take(1)[0] ?? 0
  }

  uint16(): number {
    const bytes = this.#take(2)
    return bytes.length === 2 ? bytes.readUInt16BE(0) : 0
  }

  skip(length: number): void {
    this.#take(length)
  }

  take(length: number): Buffer {
    return this.#take(length)
  }

  sub(length: number): Reader {
    return new Reader(this.#take(length))
  }

  #take(length: number): Buffer {
    if (this.isBroken || this.#at + length > this.#bytes.length) {
      this.isBroken = true
      return NOTHING
    }
    const bytes = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return bytes
  }
}
