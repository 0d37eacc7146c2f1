// The responses of failures: text, or gRPC trailers-only. errors.ts defines the failures.
import { FAILURES, type FailureCode, type FailureKind } from './errors.ts'
import { grpcStatusOf } from './grpc-http-status.ts'
import { HttpResponse } from '../message/message.ts'

const GRPC_UNAVAILABLE = 14

/**
 * The response for a failure: text, or gRPC trailers-only. See `Diagnosis` for the allowed content of `clientDetail`.
 */
export function failureResponse(code: FailureCode, isGrpc: boolean, clientDetail?: string): HttpResponse {
  const kind: FailureKind = FAILURES[code]
  const text = clientDetail === undefined ? kind.text : `${kind.text}${kind.separator ?? ': '}${clientDetail}`
  if (!isGrpc) return HttpResponse.local(kind.status, text)
  return grpcResponse(code === 'noValidBackends' ? GRPC_UNAVAILABLE : grpcStatusOf(kind.status), text)
}

/** Trailers-only, as gRPC clients expect for rejections. */
export function grpcResponse(status: number, text: string): HttpResponse {
  return HttpResponse.local(200, '', [
    ['content-type', 'application/grpc'],
    ['grpc-status', String(status)],
    ['grpc-message', encodeURIComponent(text)],
  ])
}
