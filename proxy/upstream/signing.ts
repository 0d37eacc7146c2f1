// Signs requests on their way out: waits for the whole body, asks the request's signer, and sets its fields. Runs after
// every policy, once for each endpoint that is tried, so that host, fields and body are those that are sent.
import type { Detail } from '../exchange/diagnosis.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { withoutDefaultPort } from '../message/authority.ts'
import type { RequestSigner, SignableRequest } from '../message/request-signer.ts'
import type { CallFailure } from './call.ts'
import { UpstreamError, type UpstreamRequest, type UpstreamTarget } from './target.ts'

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
  const signed = await sign({ method, pathAndQuery, authority, headers, body: whole }, signer, connection.signal)
  if (connection.signal.aborted) {
    return { code: 'upstreamFailure', detail: 'the client left before the request was signed' }
  }
  if ('detail' in signed) return { code: 'backendAuthFailed', detail: signed.detail }
  request.hideFields(signed.names)
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
    throw new UpstreamError('backendAuthFailed', unsigned('the body is a stream, which cannot be signed'))
  }
  const authority = withoutDefaultPort(request.authority, target.tls !== undefined)
  const signed = await sign({ method, pathAndQuery, authority, headers, body: whole }, signer, signal)
  if ('detail' in signed) throw new UpstreamError('backendAuthFailed', signed.detail)
}

/** Sets the fields of the signature: their names, or why there is none. */
async function sign(
  request: SignableRequest,
  signer: RequestSigner,
  signal: AbortSignal | undefined,
): Promise<{ readonly names: string[] } | { readonly detail: Detail }> {
  const signature = await signer(request, signal)
  if ('problem' in signature) return { detail: unsigned(signature.problem) }
  for (const [name, value] of signature.fields) request.headers.set(name, value)
  return { names: signature.fields.map(([name]) => name) }
}

function unsigned(problem: string): Detail {
  return { log: problem, client: 'the request could not be signed' }
}
