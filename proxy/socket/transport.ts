// One connected socket, read without streams: every read lends a buffer to the user for the duration of the call.
// Independent of protocols.
import net from 'node:net'
import tls from 'node:tls'

/** The current reader of a transport. Can be replaced at any time: a tunnel takes over after an upgrade. */
export interface TransportUser {
  /** The range is valid only during the call: copy bytes that are needed later. */
  bytes(buffer: Buffer, start: number, end: number): void
  /** The peer sends no more bytes. */
  ended(): void
  /** The kernel has accepted all written bytes, after `write` returned false. */
  drained(): void
  /** Called once, last. */
  closed(error: Error | undefined): void
}

/** Reads nothing, until other code takes the socket over. */
export const NO_USER: TransportUser = {
  bytes() {},
  ended() {},
  drained() {},
  closed() {},
}

/**
 * All sockets of a worker read into this one buffer. Against a buffer and a stream event per read (`data`) it saves
 * 3-7 us of CPU per proxied request: 23.4-24.1 us against 26.7-31.4 for a bare relay, nginx 26.0-26.3, and 20.7-21.2
 * for
 * libuv handles without net.Socket (bench/relay.ts explains the set-up). The last step is not worth undocumented APIs.
 */
const READ_BUFFER_BYTES = 65_536
const READ_BUFFER = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES)

export class Transport {
  readonly socket: net.Socket
  user: TransportUser
  #isPaused = false
  #isYielding = false
  #error: Error | undefined = undefined

  private constructor(make: (read: (bytes: number) => void) => net.Socket, user: TransportUser) {
    this.user = user
    this.socket = make((bytes) => {
      this.user.bytes(READ_BUFFER, 0, bytes)
    })
    this.socket.on('error', (error) => {
      this.#error ??= error
      // After an alert of its peer a TLS socket stays open, and reports only an end without a reason.
      this.socket.destroy()
    })
    this.socket.on('end', () => {
      this.user.ended()
    })
    this.socket.on('drain', () => {
      this.user.drained()
    })
    this.socket.on('close', () => {
      this.user.closed(this.#error)
    })
  }

  /** A connection accepted as a bare handle: see `acceptHandles` in server.ts. */
  static ofHandle(handle: object, user: TransportUser): Transport {
    const transport = new Transport((read) => {
      // net.Server itself creates sockets from a `handle`; the types lack the option.
      const options = { handle, allowHalfOpen: true, onread: onRead(read) } as net.SocketConstructorOpts
      return new net.Socket(options)
    }, user)
    transport.socket.resume()
    return transport
  }

  /** A socket that exists already: TLS, or one end of a tunnel. */
  static ofSocket(socket: net.Socket, user: TransportUser): Transport {
    const transport = new Transport(() => socket, user)
    socket.on('data', (chunk: Buffer) => {
      transport.user.bytes(chunk, 0, chunk.length)
    })
    return transport
  }

  /** Half-open, like all transports: each direction of a tunnel ends separately. */
  static connect(options: net.NetConnectOpts, user: TransportUser): Transport {
    return new Transport((read) => net.connect({ ...options, allowHalfOpen: true, onread: onRead(read) }), user)
  }

  static connectTls(options: tls.ConnectionOptions, user: TransportUser): Transport {
    // Both options are documented for tls.connect; the types lack them.
    const more = { ...options, allowHalfOpen: true }
    return new Transport((read) => tls.connect({ ...more, onread: onRead(read) } as tls.ConnectionOptions), user)
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Bytes that `write` accepted and the kernel has not. */
  get writableLength(): number {
    return this.socket.writableLength
  }

  /** A write returned false, and `drained` did not follow yet. */
  get needsDrain(): boolean {
    return this.socket.writableNeedDrain
  }

  /** Bytes that the kernel has accepted, except for the write in progress. */
  get flushedBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (!this.#isYielding) this.socket.resume()
  }

  /**
   * Stops reading in this turn of the event loop, so that other connections are served: these bytes were expensive for
   * their size.
   */
  yieldTurn(): void {
    if (this.#isYielding || this.#isPaused) return
    this.#isYielding = true
    this.socket.pause()
    setImmediate(() => {
      this.#isYielding = false
      if (!this.#isPaused) this.socket.resume()
    })
  }

  /** False: more than 64 KiB wait; `drained` follows. */
  writeText(latin1: string): boolean {
    return this.socket.write(latin1, 'latin1')
  }

  write(bytes: Buffer): boolean {
    return this.socket.write(bytes)
  }

  /** Calls back when the kernel has accepted all previous writes. Never called if the socket fails. */
  afterFlush(done: () => void): void {
    this.socket.write('', (error) => {
      if (error === undefined || error === null) done()
    })
  }

  /** Half-closes after all written bytes. */
  end(): void {
    this.socket.end()
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Like `destroy`, but the peer cannot mistake it for the end of a message. A TLS peer gets no closing alert. */
  reset(): void {
    if (this.socket instanceof tls.TLSSocket) this.socket.destroy()
    else this.socket.resetAndDestroy()
  }
}

function onRead(read: (bytes: number) => void): net.OnReadOpts {
  return {
    buffer: READ_BUFFER,
    callback(bytes) {
      read(bytes)
      return true
    },
  }
}
