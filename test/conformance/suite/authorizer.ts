// Authorization services of the samples, over HTTP and by the gRPC protocol of Envoy: both know one bearer token.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { RequestListener } from 'node:http'
import { Authorization, CheckResponseSchema } from '#proxy/envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { unaryMethod } from '#proxy/grpc/server.testing.ts'

const ALICE = 'Bearer alice-token'

/** 200 with x-user for alice, 401 without a credential, 403 for others; x-answer counts the answers. */
export function authorizer(): RequestListener {
  let answers = 0
  return (request, response) => {
    answers++
    const { authorization } = request.headers
    const status = authorization === ALICE ? 200 : authorization === undefined ? 401 : 403
    const user = status === 200 ? { 'x-user': 'alice' } : {}
    request.resume()
    response.writeHead(status, { 'x-answer': String(answers), 'x-asked': request.url ?? '', ...user })
    response.end(status === 200 ? '' : 'not for you')
  }
}

const PERMISSION_DENIED = 7

const ALLOWED: MessageInitShape<typeof CheckResponseSchema> = {
  status: { code: 0 },
  httpResponse: { case: 'okResponse', value: { headers: [{ header: { key: 'x-user', value: 'alice' } }] } },
}
const DENIED: MessageInitShape<typeof CheckResponseSchema> = {
  status: { code: PERMISSION_DENIED },
  httpResponse: { case: 'deniedResponse', value: { status: { code: 403 }, body: 'not for you' } },
}

/** As above, and it must be told the place `shop`. */
export const grpcAuthorizer = unaryMethod(Authorization.method.check, (call, reply) => {
  const { request, contextExtensions } = call.request.attributes ?? {}
  const isAlice = request?.http?.headers['authorization'] === ALICE && contextExtensions?.['place'] === 'shop'
  reply(null, create(CheckResponseSchema, isAlice ? ALLOWED : DENIED))
})
