// A WebSocket between a client and a provider whose client messages are checked by guards. Stands between both as a
// connection in memory, so that the servers of HTTP/1.1 and HTTP/2 join it as any other.
import type net from 'node:net'
import { reportIfBug } from '../../exchange/defects.ts'
import { closeMessage, textMessage, type WebSocketMessage, WebSocketMessages } from '../../http/websocket-messages.ts'
import { WebSocketError } from '../../http/websocket-reader.ts'
import { pipe } from '../../socket/pipe.ts'
import { NO_USER, Transport, type TransportUser } from '../../socket/transport.ts'
import { Tunnel } from '../../socket/tunnel.ts'
import type { RealtimeGuard } from './realtime.ts'

/** Close codes of RFC 6455 section 7.4.1. */
const POLICY_VIOLATION = 1008
const NOTHING = Buffer.alloc(0)

/** The tunnel for the client. Takes over `provider`, whose observer sees the messages of the provider. */
export function guardedTunnel(provider: Tunnel, guard: RealtimeGuard, messageBytesMax: number): Tunnel {
  const { near, far } = pipe()
  const client = Transport.ofSocket(near, NO_USER)
  client.pause()
  const relay = new Relay(provider, far, messageBytesMax)
  void relay.forwardClient(guard)
  return new Tunnel(client, NOTHING, provider.protocol)
}

/** The side of the provider, and the messages of the client. */
class Relay implements TransportUser {
  readonly #provider: Tunnel
  readonly #client: net.Socket
  readonly #fromClient: WebSocketMessages
  readonly #fromProvider: WebSocketMessages
  /** Of the message that waits until its receiver can take more. */
  #wake: (() => void) | undefined

  constructor(provider: Tunnel, client: net.Socket, messageBytesMax: number) {
    this.#provider = provider
    this.#client = client
    this.#fromClient = new WebSocketMessages({ isMasked: true, messageBytesMax })
    this.#fromProvider = new WebSocketMessages({ isMasked: false, messageBytesMax })
    const { transport, early } = provider
    transport.user = this
    client.on('drain', () => {
      transport.resume()
      this.#wakeUp()
    })
    client.once('close', () => this.#end())
    if (early.length > 0) this.bytes(early, 0, early.length)
    if (transport.socket.destroyed) client.destroy()
    else transport.resume()
  }

  /** One message after the other; ends with the client. */
  async forwardClient(guard: RealtimeGuard): Promise<void> {
    const { transport } = this.#provider
    try {
      // Its end must not end the other direction.
      for await (const chunk of this.#client.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        for (const message of this.#fromClient.push(chunk)) await this.#forward(message, guard)
      }
      transport.end()
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** @throws {WebSocketError} */
  async #forward({ kind, text, bytes }: WebSocketMessage, guard: RealtimeGuard): Promise<void> {
    if (kind === 'binary') throw new WebSocketError('guards cannot check binary messages')
    if (kind === 'control') {
      await this.#send(bytes)
      return
    }
    const checked = await guard.check(text)
    if (checked.kind === 'rejected') await this.#answer(textMessage(checked.error, false))
    else await this.#send(checked.text === text ? bytes : textMessage(checked.text, true))
  }

  /** Resolves when the provider can take more. */
  async #send(bytes: Buffer): Promise<void> {
    const { transport } = this.#provider
    if (!transport.socket.destroyed && !transport.write(bytes)) await this.#writable()
  }

  /** The same for the client, which may send without reading. */
  async #answer(bytes: Buffer): Promise<void> {
    if (this.#client.writable && !this.#client.write(bytes)) await this.#writable()
  }

  async #writable(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  /** Nothing after the message can be read, or it cannot be checked: both directions end. */
  #refuse(error: unknown): void {
    reportIfBug('llm realtime guard', error)
    const reason = error instanceof WebSocketError ? error.message : 'the connection failed'
    this.#client.end(closeMessage(POLICY_VIOLATION, reason, false))
    this.#provider.transport.destroy()
  }

  #end(): void {
    this.#wakeUp()
    this.#provider.transport.destroy()
  }

  // --- TransportUser: the provider ---

  bytes(buffer: Buffer, start: number, end: number): void {
    const chunk = Buffer.from(buffer.subarray(start, end))
    this.#provider.observer?.seen(chunk, 0, chunk.length)
    try {
      // Whole messages, so that an error event for the client can stand between them.
      for (const { bytes } of this.#fromProvider.push(chunk)) {
        if (!this.#client.write(bytes)) this.#provider.transport.pause()
      }
    } catch (error) {
      this.#refuse(error)
    }
  }

  ended(): void {
    this.#client.end()
  }

  drained(): void {
    this.#wakeUp()
  }

  closed(): void {
    this.#wakeUp()
    if (this.#provider.transport.socket.readableEnded) this.#client.end()
    else if (!this.#client.writableEnded) this.#client.destroy()
  }
}
