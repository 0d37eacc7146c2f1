// The responses of failures: text, JSON of model APIs, or gRPC trailers-only. errors.ts defines the failures.
import { STATUS_CODES } from 'node:http'
import { FAILURES, type FailureCode, type FailureKind } from './errors.ts'
import { grpcStatusOf } from './grpc-http-status.ts'
import { HttpResponse } from '../message/message.ts'
import type { FailureText } from './slots.ts'

const GRPC_UNAVAILABLE = 14

interface FailureForm {
  readonly isGrpc?: boolean
  /** See `Diagnosis` for the allowed content. */
  readonly clientDetail?: string | undefined
  /** The JSON body; undefined: text. */
  readonly bodyOf?: (failure: FailureText) => string | undefined
}

/** The response for a failure: text, JSON in the format of the client's API, or gRPC trailers-only. */
export function failureResponse(code: FailureCode, { isGrpc, clientDetail, bodyOf }: FailureForm = {}): HttpResponse {
  const kind: FailureKind = FAILURES[code]
  const { status, apiCode } = kind
  const text = clientDetail === undefined ? kind.text : `${kind.text}${kind.separator ?? ': '}${clientDetail}`
  if (isGrpc === true) return grpcResponse(code === 'noValidBackends' ? GRPC_UNAVAILABLE : grpcStatusOf(status), text)
  // SDKs show the message: an empty one would hide the cause.
  const body = bodyOf?.({ status, text: text === '' ? (STATUS_CODES[status] ?? '') : text, apiCode })
  return body === undefined ? HttpResponse.local(status, text) : HttpResponse.local(status, body, JSON_HEADERS)
}

const JSON_HEADERS = [['content-type', 'application/json']] as const

/** Trailers-only, as gRPC clients expect for rejections. */
export function grpcResponse(status: number, text: string): HttpResponse {
  return HttpResponse.local(200, '', [
    ['content-type', 'application/grpc'],
    ['grpc-status', String(status)],
    ['grpc-message', encodeURIComponent(text)],
  ])
}
