// A service that policies call (authorization, rate limits, processing). backend/service-caller.ts implements the
// calls.
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import type { Exchange } from '../exchange/exchange.ts'
import type { GrpcMethod, GrpcStream, GrpcStreamUser } from '../grpc/client.ts'
import type { HeaderList } from '../message/headers.ts'
import type { HttpResponse } from '../message/message.ts'

/** The call failed or had no response in time. The text is for the log; `cause`: the gRPC status. */
export class ServiceError extends Error {}

export interface ServiceHttpRequest {
  readonly method: string
  /** undefined: the name of the service. */
  readonly authority: string | undefined
  readonly path: string
  readonly query: string
  readonly headers: HeaderList
  readonly body: Buffer | undefined
  /** Limit for the response; a larger one is a failure. */
  readonly answerBytesMax: number
  /**
   * Ends the call in place of the client's departure and of the deadline of the request, for an answer that other
   * requests wait for as well.
   */
  readonly detached?: AbortSignal
}

export interface ServiceCaller {
  /**
   * Returns the response with its complete body. Ends early if the client closes the connection, unless it is
   * `detached`.
   * @throws {ServiceError}
   */
  http(exchange: Exchange, request: ServiceHttpRequest): Promise<HttpResponse>
  /**
   * `isDetached`: continues after the client has closed, for work after the response.
   * @throws {ServiceError}
   */
  unary<I extends DescMessage, O extends DescMessage>(
    exchange: Exchange,
    method: GrpcMethod<I, O>,
    message: MessageShape<I>,
    options: { headers: HeaderList; isDetached: boolean },
  ): Promise<MessageShape<O>>
  /** Deadline of the service for one response. */
  readonly answerMs: number
  /**
   * Opens a stream without a deadline of its own; it ends when the client closes the connection. The user of the stream
   * gets all results, including failures.
   * @throws {ServiceError} for a call that cannot be started.
   */
  stream<I extends DescMessage, O extends DescMessage>(
    exchange: Exchange,
    method: GrpcMethod<I, O>,
    user: GrpcStreamUser<MessageShape<O>>,
    headers: HeaderList,
  ): Promise<ServiceStream<MessageShape<I>>>
}

export interface ServiceStream<I> extends GrpcStream<I> {
  /** Cancels a call because of an error of the peer: counted for the endpoint. */
  abandon(): void
}
