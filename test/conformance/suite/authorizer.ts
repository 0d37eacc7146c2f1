// Authorization services of the samples, over HTTP and by the gRPC protocol of Envoy: both accept one bearer token.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { RequestListener } from 'node:http'
import { Authorization, CheckResponseSchema } from '#proxy/envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import { unaryMethod } from '#proxy/grpc/server.testing.ts'

const ALICE = 'Bearer alice-token'

/**
 * 200 with x-user for alice, 401 without a credential, 403 for others; x-answer counts the responses. It returns what
 * it got: the path, a header, a cookie and the body.
 */
export function authorizer(): RequestListener {
  let answers = 0
  return (request, response) => {
    answers++
    const { authorization } = request.headers
    const status = authorization === ALICE ? 200 : authorization === undefined ? 401 : 403
    const user = status === 200 ? { 'x-user': 'alice' } : {}
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const got = {
        'x-asked': request.url ?? '',
        'x-got-header': String(request.headers['x-got'] ?? ''),
        'x-got-cookie': request.headers.cookie ?? '',
        'x-got-body': Buffer.concat(chunks).toString('utf8'),
      }
      response.writeHead(status, { 'x-answer': String(answers), ...got, ...user })
      response.end(status === 200 ? '' : 'not for you')
    })
  }
}

const PERMISSION_DENIED = 7

function allowed(got: string, names: string): MessageInitShape<typeof CheckResponseSchema> {
  const values = { 'x-user': 'alice', 'x-got': got, 'x-got-names': names }
  const headers = Object.entries(values).map(([key, value]) => ({ header: { key, value } }))
  return { status: { code: 0 }, httpResponse: { case: 'okResponse', value: { headers } } }
}
const DENIED: MessageInitShape<typeof CheckResponseSchema> = {
  status: { code: PERMISSION_DENIED },
  httpResponse: { case: 'deniedResponse', value: { status: { code: 403 }, body: 'not for you' } },
}

/**
 * As above, and the context or a header must have the place `shop`; x-got has the metadata that it got, and the body,
 * x-got-names the names of the headers.
 */
export const grpcAuthorizer = unaryMethod(Authorization.method.check, (call, reply) => {
  const { request, contextExtensions, metadataContext } = call.request.attributes ?? {}
  const { headers = {}, body = '' } = request?.http ?? {}
  const place = contextExtensions?.['place'] ?? headers['x-place']
  const isAlice = headers['authorization'] === ALICE && place === 'shop'
  const names = Object.keys(headers).sort().join(',')
  const got = `${JSON.stringify(metadataContext?.filterMetadata)} ${body}`
  reply(null, create(CheckResponseSchema, isAlice ? allowed(got, names) : DENIED))
})
