// A service that policies ask (authorization, rate limits, processing), as they see it. It is called by
// backend/service-caller.ts.
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import type { Exchange } from '../exchange/exchange.ts'
import type { GrpcMethod, GrpcStream, GrpcStreamUser } from '../grpc/client.ts'
import type { HeaderList } from '../message/headers.ts'
import type { HttpResponse } from '../message/message.ts'

/** The call could not be made or brought no answer in time. The text is for the log; `cause`: the gRPC status. */
export class ServiceError extends Error {}

export interface ServiceHttpRequest {
  readonly method: string
  /** undefined: the service's own name. */
  readonly authority: string | undefined
  readonly path: string
  readonly query: string
  readonly headers: HeaderList
  readonly body: Buffer | undefined
  /** Of the answer; a larger one is a failure. */
  readonly answerBytesMax: number
}

export interface ServiceCaller {
  /**
   * The answer with its whole body. Ends early when the client leaves.
   * @throws {ServiceError}
   */
  http(exchange: Exchange, request: ServiceHttpRequest): Promise<HttpResponse>
  /**
   * `isDetached`: goes on when the client has left, for what is settled after the response.
   * @throws {ServiceError}
   */
  unary<I extends DescMessage, O extends DescMessage>(
    exchange: Exchange,
    method: GrpcMethod<I, O>,
    message: MessageShape<I>,
    options: { headers: HeaderList; isDetached: boolean },
  ): Promise<MessageShape<O>>
  /** How long the service may take for one answer. */
  readonly answerMs: number
  /**
   * Opens a stream without a deadline of its own; ends when the client leaves. What comes of it, failures included, its
   * user hears.
   * @throws {ServiceError} for a call that cannot even be tried.
   */
  stream<I extends DescMessage, O extends DescMessage>(
    exchange: Exchange,
    method: GrpcMethod<I, O>,
    user: GrpcStreamUser<MessageShape<O>>,
    headers: HeaderList,
  ): Promise<ServiceStream<MessageShape<I>>>
}

export interface ServiceStream<I> extends GrpcStream<I> {
  /** Cancels a call whose peer did not do its part: charged to the endpoint. */
  abandon(): void
}
