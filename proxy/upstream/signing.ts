// Signs requests on their way out: waits for the whole body, asks the request's signer, and sets its fields. Runs after
// every policy, once for each endpoint that is tried, so that host, fields and body are those that are sent.
import type { Detail } from '../exchange/diagnosis.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { withoutDefaultPort } from '../message/authority.ts'
import type { RequestSigner } from '../message/request-signer.ts'
import type { CallFailure } from './call.ts'
import { UpstreamError, type UpstreamRequest, type UpstreamTarget } from './target.ts'

const UNSIGNED = 'the request could not be signed'

/** Resolves to undefined when the request is signed; else to its failure. Never rejects. */
export async function signExchange(
  exchange: Exchange,
  signer: RequestSigner,
  authority: string,
): Promise<{ code: CallFailure; detail: Detail } | undefined> {
  const { request, connection } = exchange
  const { body } = request
  if (body !== undefined && !Buffer.isBuffer(body)) {
    const bytesMax = exchange.flow?.bodyBytesMax ?? 0
    try {
      const whole = await body.tryCollect(bytesMax)
      if (whole === undefined) {
        return { code: 'bodyTooLarge', detail: `a request that is signed may have ${bytesMax} bytes of body` }
      }
      request.body = whole
    } catch (error) {
      return { code: 'invalidRequest', detail: String(error) }
    }
  }
  const { method, pathAndQuery, headers } = request
  const whole = Buffer.isBuffer(request.body) ? request.body : undefined
  const signature = await signer({ method, pathAndQuery, authority, headers, body: whole }, connection.signal)
  if (connection.signal.aborted) {
    return { code: 'upstreamFailure', detail: 'the client left before the request was signed' }
  }
  if ('problem' in signature) {
    return { code: 'backendAuthFailed', detail: { log: signature.problem, client: UNSIGNED } }
  }
  for (const [name, value] of signature.fields) headers.set(name, value)
  request.hideFields(signature.fields.map(([name]) => name))
  return undefined
}

/** @throws {UpstreamError} */
export async function signRequest(
  request: UpstreamRequest,
  signer: RequestSigner,
  { target, signal }: { target: UpstreamTarget; signal: AbortSignal | undefined },
): Promise<void> {
  const { method, pathAndQuery, headers, body } = request
  const whole = typeof body === 'string' ? Buffer.from(body) : body
  if (whole !== undefined && !Buffer.isBuffer(whole)) {
    throw new UpstreamError('backendAuthFailed', {
      log: 'the body is a stream, which cannot be signed',
      client: UNSIGNED,
    })
  }
  const authority = withoutDefaultPort(request.authority, target.tls !== undefined)
  const signature = await signer({ method, pathAndQuery, authority, headers, body: whole }, signal)
  if ('problem' in signature) {
    throw new UpstreamError('backendAuthFailed', { log: signature.problem, client: UNSIGNED })
  }
  for (const [name, value] of signature.fields) headers.set(name, value)
}
