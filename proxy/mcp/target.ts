// One MCP server behind the gateway, whatever carries its messages.
import type { Exchange } from '../exchange/exchange.ts'
import type { Cancellable } from '../message/body.ts'
import type { JsonRpcMessage } from './jsonrpc.ts'
import type { TargetSession } from './session-id.ts'

export interface TargetReply {
  /** Session the server gave with this answer (initialize). */
  readonly serverSession: string | undefined
  readonly endpoint: string | undefined
  /** What the server sends for this message: notifications, its own requests, and the response as the last. */
  readonly messages: MessageStream
}

/** Messages of a server, or made from them: read to its end, or cancelled, or its connection stays open. */
export type MessageStream = Cancellable<JsonRpcMessage>

/** The server answered with an HTTP error: passed to the client as it is. */
export class TargetHttpError extends Error {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: Buffer
  constructor(status: number, contentType: string | undefined, body: Buffer) {
    super(`the server answered ${status}`)
    this.status = status
    this.contentType = contentType
    this.body = body
  }
}

/** The server could not be reached, or broke the protocol. */
export class TargetError extends Error {}

export interface McpTarget {
  readonly name: string
  /**
   * Sends one message of the client, or of the gateway itself.
   * @throws {TargetError | TargetHttpError}
   */
  send(exchange: Exchange, message: JsonRpcMessage, session: TargetSession | undefined): Promise<TargetReply>
  /** Opens the server's own stream (GET); undefined when the server has none. */
  listen(exchange: Exchange, session: TargetSession): Promise<MessageStream | undefined>
  /** Ends the session. Failures are of no interest: the server drops idle sessions itself. */
  end(exchange: Exchange, session: TargetSession): Promise<void>
}
