// One MCP server behind the gateway, independent of its transport.
import type { Exchange } from '../../exchange/exchange.ts'
import type { Cancellable } from '../../message/body.ts'
import type { HttpResponse } from '../../message/message.ts'
import type { JsonRpcMessage } from '../jsonrpc.ts'

/** The part of a client's session that one server keeps. */
export interface TargetSession {
  readonly target: string
  /** The server's own session id; undefined if it sent none. */
  readonly serverSession: string | undefined
  /** `host:port` of the session. */
  readonly endpoint: string | undefined
  /** The target failed at initialize and was skipped (`failureMode: FailOpen`). */
  readonly isSkipped: boolean
  /** The server has no sessions (MCP 2026-07-28). */
  readonly isModern: boolean
}

/** One message of a server. Requests of clients are limited by the buffer of the listener. */
export const MESSAGE_BYTES_MAX = 32 * 1024 * 1024

export interface TargetReply {
  /** Session id that the server sent with this response (initialize). */
  readonly serverSession: string | undefined
  readonly endpoint: string | undefined
  /** The response, if the server sent nothing else; undefined: it sends a stream, or nothing. */
  readonly whole?: WholeMessage | undefined
  /** Messages of the server for this message: notifications, its own requests, and the response as the last. */
  readonly messages: MessageStream
  /** The same messages with their ids; only one of both can be read. undefined: the stream cannot be resumed. */
  readonly events?: EventStream
}

/** A reply that is only these messages. */
export function replyOf(messages: MessageStream): TargetReply {
  return { serverSession: undefined, endpoint: undefined, messages }
}

export interface WholeMessage {
  readonly message: JsonRpcMessage
  /** As the server wrote it; a string has no characters beyond ASCII. */
  readonly text: Buffer | string
}

/** Messages of a server, or derived from them: read to the end or cancel, or the connection stays open. */
export type MessageStream = Cancellable<JsonRpcMessage>

export interface ServerEvent {
  /** undefined: the event only has an id or a time. */
  readonly message: JsonRpcMessage | undefined
  /** After which the stream can be resumed. */
  readonly id?: string | undefined
  /** Before the stream is resumed. */
  readonly retryMs?: number | undefined
}

/** Read to the end or cancel, or the connection stays open. */
export type EventStream = Cancellable<ServerEvent>

/** The server returned an HTTP error: forwarded to the client unchanged. */
export class TargetHttpError extends Error {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: Buffer
  /** The fields with which the server leads clients to its own sign-in. */
  readonly signIn: readonly (readonly [string, string])[]
  constructor(status: number, contentType: string | undefined, body: Buffer, signIn: TargetHttpError['signIn'] = []) {
    super(`the server answered ${status}`)
    this.status = status
    this.contentType = contentType
    this.body = body
    this.signIn = signIn
  }
}

/** The server could not be reached, or broke the protocol. */
export class TargetError extends Error {}

/** No connection to the server: it has not got the message. */
export class UnreachableError extends TargetError {}

/** No server can get the request: the backend has none, or no endpoint of it is ready. */
export class NoServerError extends TargetError {}

/** The server has none of the versions of the gateway. */
export class VersionRejected extends TargetError {
  readonly supported: readonly string[]
  constructor(name: string, supported: readonly string[]) {
    super(`${name}: the server has no protocol version of the gateway`)
    this.supported = supported
  }
}

export interface McpTarget {
  readonly name: string
  /** For its part of a request to several servers; undefined: `ANSWER_MS`. */
  readonly answerMs?: number | undefined
  /**
   * Sends one message of the client, or of the gateway itself. `deadlineMs`: until the end of the reply, as
   * `performance.now()`; undefined: the limits of the transport.
   * @throws {TargetError | TargetHttpError}
   */
  send(
    exchange: Exchange,
    message: JsonRpcMessage,
    session: TargetSession | undefined,
    deadlineMs?: number,
  ): Promise<TargetReply>
  /** Opens the server's own stream (GET), after the event `last` if it is set; undefined if the server has none. */
  listen(exchange: Exchange, session: TargetSession, last?: string): Promise<EventStream | undefined>
  /**
   * The rest of the stream of a request, after the event `last`. undefined: it cannot be resumed.
   * @throws {TargetError | TargetHttpError}
   */
  resume?(exchange: Exchange, session: TargetSession | undefined, last: string): Promise<EventStream | undefined>
  /** Ends the session. Failures are ignored: the server drops idle sessions itself. */
  end(exchange: Exchange, session: TargetSession): Promise<void>
  /**
   * Sends a request for a document about sign-in as it is. undefined: the server has no such documents.
   * @throws {TargetError}
   */
  readonly document?: (exchange: Exchange) => Promise<HttpResponse>
}
