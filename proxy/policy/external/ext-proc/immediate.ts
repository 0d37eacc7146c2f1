// An immediate response of a processor, which replaces everything else.
import type { ImmediateResponse } from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import { grpcResponse } from '../../../exchange/failure-response.ts'
import { grpcStatusOf } from '../../../exchange/grpc-http-status.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import { HttpResponse } from '../../../message/message.ts'
import { bytesOf, editedFields, RefusedMutation } from './mutation.ts'

/** The part of a body for people that is copied to `grpc-message`. */
const GRPC_MESSAGE_LENGTH_MAX = 1024
const GRPC_STATUS_MAX = 16
const GRPC_FIELDS = ['content-type', 'grpc-status', 'grpc-message'] as const

/** @throws {RefusedMutation} */
export function immediateResponse(exchange: Exchange, answer: ImmediateResponse): HttpResponse {
  const { status, grpcStatus, details } = answer
  const code: number = status?.code ?? 0
  // A response without a status is an ordinary one.
  const httpStatus = code === 0 ? 200 : code
  if (!Number.isInteger(httpStatus) || httpStatus < 200 || httpStatus > 599) {
    throw new RefusedMutation('the status of the immediate response is not a valid status code')
  }
  const fields = editedFields(new HeaderList(), answer.headers)
  const body = bytesOf(answer.body)
  exchange.reason = 'ExtProc'
  exchange.errorDetail = `the processor returned status ${httpStatus}${details === '' ? '' : `: ${details.slice(0, GRPC_MESSAGE_LENGTH_MAX)}`}`
  if (exchange.isGrpc) return grpcAnswer({ httpStatus, grpcStatus: grpcStatus?.status, fields, body })
  if (body.length > 0 && !fields.has('content-type')) fields.append('content-type', 'text/plain')
  return new HttpResponse(httpStatus, fields, body, true)
}

function grpcAnswer(parts: {
  readonly httpStatus: number
  readonly grpcStatus: number | undefined
  readonly fields: HeaderList
  readonly body: Buffer
}): HttpResponse {
  const { httpStatus, grpcStatus, fields, body } = parts
  const isKnown = grpcStatus !== undefined && grpcStatus <= GRPC_STATUS_MAX
  const response = grpcResponse(
    isKnown ? grpcStatus : grpcStatusOf(httpStatus),
    body.toString('utf8').slice(0, GRPC_MESSAGE_LENGTH_MAX),
  )
  for (const name of GRPC_FIELDS) fields.remove(name)
  for (const [name, value] of fields) response.headers.append(name, value)
  return response
}
