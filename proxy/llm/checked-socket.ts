// A WebSocket between a client and a provider whose messages are checked. Stands between both as a connection in
// memory, so that the servers of HTTP/1.1 and HTTP/2 join it as any other.
import type net from 'node:net'
import { reportIfBug } from '../exchange/defects.ts'
import {
  closeMessage,
  isClose,
  textMessage,
  type WebSocketMessage,
  WebSocketMessages,
} from '../http/websocket-messages.ts'
import { WebSocketError } from '../http/websocket-reader.ts'
import { pipe } from '../socket/pipe.ts'
import { NO_USER, Transport, type TransportUser } from '../socket/transport.ts'
import { Tunnel } from '../socket/tunnel.ts'
import type { RealtimeAnswers } from './guards/realtime-answers.ts'

/** Close codes of RFC 6455 section 7.4.1. */
const POLICY_VIOLATION = 1008
const NOTHING = Buffer.alloc(0)
const BINARY = 'guards cannot check binary messages'

export type CheckedEvent =
  /** `text`: the event to send, changed or not. */
  | { readonly kind: 'passed'; readonly text: string }
  /** `error`: the event that the client gets instead. The session continues. */
  | { readonly kind: 'rejected'; readonly error: string }

export interface SocketCheck {
  /** `text`: one message of the client. */
  check(text: string): CheckedEvent | Promise<CheckedEvent>
}

export interface SocketChecks {
  /** In their order; each gets the text that the previous one passed. */
  readonly ofClient: readonly SocketCheck[]
  /** undefined: messages of the provider pass unchanged. */
  readonly ofProvider: RealtimeAnswers | undefined
  /** Guards cannot check binary messages of the client; others pass them. */
  readonly allowsBinary: boolean
  readonly messageBytesMax: number
}

/** The tunnel for the client. Takes over `provider`, whose observer sees the messages of the provider. */
export function checkedTunnel(provider: Tunnel, checks: SocketChecks): Tunnel {
  const { near, far } = pipe()
  const client = Transport.ofSocket(near, NO_USER)
  client.pause()
  const relay = new Relay(provider, far, checks)
  void relay.forwardClient()
  return new Tunnel(client, NOTHING, provider.protocol)
}

/** The side of the provider, and the messages of the client. */
class Relay implements TransportUser {
  readonly #checks: SocketChecks
  readonly #provider: Tunnel
  readonly #client: net.Socket
  readonly #fromClient: WebSocketMessages
  readonly #fromProvider: WebSocketMessages
  /** Of messages that wait until their receiver can take more. */
  #wakes: (() => void)[] = []
  /** Of the provider, for guards. */
  readonly #unchecked: WebSocketMessage[] = []
  #isChecking = false
  #hasProviderEnded = false

  constructor(provider: Tunnel, client: net.Socket, checks: SocketChecks) {
    const { messageBytesMax } = checks
    this.#checks = checks
    this.#provider = provider
    this.#client = client
    this.#fromClient = new WebSocketMessages({ isMasked: true, messageBytesMax })
    this.#fromProvider = new WebSocketMessages({ isMasked: false, messageBytesMax })
    const { transport, early } = provider
    transport.user = this
    client.on('drain', () => {
      if (!this.#isChecking) transport.resume()
      this.#wakeUp()
    })
    client.once('close', () => this.#end())
    if (early.length > 0) this.bytes(early, 0, early.length)
    if (transport.socket.destroyed) client.destroy()
    else transport.resume()
  }

  /** One message after the other; ends with the client. */
  async forwardClient(): Promise<void> {
    const { transport } = this.#provider
    try {
      // Its end must not end the other direction.
      for await (const chunk of this.#client.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        for (const message of this.#fromClient.push(chunk)) await this.#forward(message)
      }
      transport.end()
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** @throws {WebSocketError} */
  async #forward({ kind, text, bytes }: WebSocketMessage): Promise<void> {
    if (kind !== 'text') {
      if (kind === 'binary' && !this.#checks.allowsBinary) throw new WebSocketError(BINARY)
      await this.#send(bytes)
      return
    }
    let sent = text
    for (const check of this.#checks.ofClient) {
      const checked = await check.check(sent)
      if (checked.kind === 'rejected') {
        await this.#answer(textMessage(checked.error, false))
        return
      }
      sent = checked.text
    }
    await this.#send(sent === text ? bytes : textMessage(sent, true))
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
    this.#wakes.push(resolve)
    await promise
  }

  #wakeUp(): void {
    const wakes = this.#wakes
    this.#wakes = []
    for (const wake of wakes) wake()
  }

  /** Nothing after the message can be read, or it cannot be checked: both directions end. */
  #refuse(error: unknown): void {
    reportIfBug('llm realtime', error)
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
    const guard = this.#checks.ofProvider
    try {
      // Whole messages, so that an error event for the client can stand between them.
      const messages = this.#fromProvider.push(chunk)
      if (guard === undefined) this.#pass(messages)
      else {
        this.#unchecked.push(...messages)
        void this.#check(guard)
      }
    } catch (error) {
      this.#refuse(error)
    }
  }

  #pass(messages: readonly WebSocketMessage[]): void {
    for (const { bytes } of messages) {
      if (!this.#client.write(bytes)) this.#provider.transport.pause()
    }
  }

  /** One message after the other. The provider waits. */
  async #check(guard: RealtimeAnswers): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    this.#provider.transport.pause()
    try {
      for (let next = this.#unchecked.shift(); next !== undefined; next = this.#unchecked.shift()) {
        await this.#checkAnswer(next, guard)
      }
      if (this.#hasProviderEnded) await this.#release(guard)
    } catch (error) {
      this.#refuse(error)
    }
    this.#isChecking = false
    if (this.#hasProviderEnded) this.#client.end()
    else this.#provider.transport.resume()
  }

  /** @throws {WebSocketError} */
  async #checkAnswer({ kind, text, bytes }: WebSocketMessage, guard: RealtimeAnswers): Promise<void> {
    if (kind === 'binary') throw new WebSocketError(BINARY)
    if (kind === 'control') {
      if (isClose(bytes)) await this.#release(guard)
      await this.#answer(bytes)
      return
    }
    const { toClient, toProvider } = await guard.check(text)
    const { transport } = this.#provider
    for (const event of toProvider) if (!transport.socket.destroyed) transport.write(textMessage(event, true))
    for (const event of toClient) await this.#answer(event === text ? bytes : textMessage(event, false))
  }

  async #release(guard: RealtimeAnswers): Promise<void> {
    for (const event of await guard.end()) await this.#answer(textMessage(event, false))
  }

  ended(): void {
    this.#hasProviderEnded = true
    const guard = this.#checks.ofProvider
    if (guard === undefined) this.#client.end()
    else void this.#check(guard)
  }

  drained(): void {
    this.#wakeUp()
  }

  closed(): void {
    this.#wakeUp()
    if (this.#provider.transport.socket.readableEnded) {
      if (!this.#isChecking) this.#client.end()
    } else if (!this.#client.writableEnded) this.#client.destroy()
  }
}
