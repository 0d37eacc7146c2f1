// A gRPC client that is made with the first call: most workers never call a service over gRPC.
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import type { GrpcCallOptions, GrpcClient, GrpcMethod, GrpcStream, GrpcStreamUser } from './client.ts'
import type { UpstreamTarget } from '../upstream/target.ts'

export class LateGrpcClient implements GrpcClient {
  readonly #make: () => GrpcClient
  #made: GrpcClient | undefined

  constructor(make: () => GrpcClient) {
    this.#make = make
  }

  get openSessions(): number {
    return this.#made?.openSessions ?? 0
  }

  unary<I extends DescMessage, O extends DescMessage>(
    target: UpstreamTarget,
    method: GrpcMethod<I, O>,
    request: MessageShape<I>,
    options: GrpcCallOptions,
  ): Promise<MessageShape<O>> {
    return this.#client().unary(target, method, request, options)
  }

  stream<I extends DescMessage, O extends DescMessage>(
    target: UpstreamTarget,
    method: GrpcMethod<I, O>,
    user: GrpcStreamUser<MessageShape<O>>,
    options: GrpcCallOptions,
  ): GrpcStream<MessageShape<I>> {
    return this.#client().stream(target, method, user, options)
  }

  close(): void {
    this.#made?.close()
  }

  #client(): GrpcClient {
    return (this.#made ??= this.#make())
  }
}
