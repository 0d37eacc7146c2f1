// Buffers bodies until they are complete (data-plane supplement section 1.10). Upgraded connections have no body
// with an end, and are not changed.
import type { BufferBody, TrafficBuffer } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { StreamBody } from '../../message/body.ts'
import { discardBody } from '../../http/body-writer.ts'
import type { CompiledPolicy, Filter, Verdict } from '../../chain/filter.ts'

const SWITCHING_PROTOCOLS = 101

const REQUEST_DETAIL = 'request body is larger than traffic.buffer.request.maxBytes'
const RESPONSE_DETAIL = 'response body is larger than traffic.buffer.response.maxBytes'

export function compileBuffer({ request, response }: TrafficBuffer): CompiledPolicy {
  return {
    ...(request === undefined ? {} : { request: requestBuffer(request) }),
    ...(response === undefined ? {} : { response: responseBuffer(response) }),
  }
}

function requestBuffer({ bytesMax, failureMode }: BufferBody): Filter {
  const isClosed = failureMode === 'FailClosed'
  return (exchange) => {
    const { body, upgrade } = exchange.request
    if (body === undefined || upgrade !== undefined) {
      exchange.trace?.skip('no request body')
      return undefined
    }
    const max = bytesMax ?? listenerMax(exchange)
    if (Buffer.isBuffer(body))
      return isClosed && body.length > max ? exchange.fail('bufferRequestTooLarge', REQUEST_DETAIL) : undefined
    return holdRequest(exchange, body, max, isClosed)
  }
}

async function holdRequest(exchange: Exchange, body: StreamBody, max: number, isClosed: boolean): Promise<Verdict> {
  let whole: Buffer | undefined
  try {
    whole = await body.tryCollect(max)
  } catch (error) {
    return exchange.fail('invalidRequest', String(error))
  }
  if (whole !== undefined) exchange.request.body = whole
  exchange.trace?.note(heldText(whole, max))
  return whole === undefined && isClosed ? exchange.fail('bufferRequestTooLarge', REQUEST_DETAIL) : undefined
}

function responseBuffer({ bytesMax, failureMode }: BufferBody): Filter {
  const isClosed = failureMode === 'FailClosed'
  return (exchange) => {
    const { response } = exchange
    if (response === undefined || response.isLocal || response.status === SWITCHING_PROTOCOLS) return undefined
    const { body } = response
    if (body === undefined || typeof body === 'string') return undefined
    const max = bytesMax ?? listenerMax(exchange)
    if (Buffer.isBuffer(body))
      return isClosed && body.length > max ? exchange.fail('bufferResponseTooLarge', RESPONSE_DETAIL) : undefined
    // Other streams (LLM events) are created by the proxy itself, event by event.
    return 'tryCollect' in body ? holdResponse(exchange, body, max, isClosed) : undefined
  }
}

async function holdResponse(exchange: Exchange, body: StreamBody, max: number, isClosed: boolean): Promise<Verdict> {
  let whole: Buffer | undefined
  try {
    whole = await body.tryCollect(max)
  } catch (error) {
    return exchange.fail('upstreamFailure', { log: String(error), client: 'the response was truncated' })
  }
  if (whole !== undefined && exchange.response !== undefined) exchange.response.body = whole
  exchange.trace?.note(heldText(whole, max))
  if (whole !== undefined || !isClosed) return undefined
  discardBody(body)
  return exchange.fail('bufferResponseTooLarge', RESPONSE_DETAIL)
}

function heldText(whole: Buffer | undefined, bytesMax: number): string {
  return whole === undefined
    ? `the body is larger than ${bytesMax} bytes`
    : `the whole body is buffered: ${whole.length} bytes`
}

function listenerMax(exchange: Exchange): number {
  return exchange.flow?.bodyBytesMax ?? 0
}
