// Processing service of the samples, with the protocol of Envoy: it rejects requests with x-forbidden, adds a header to
// others, and writes bodies in capitals, in pieces or whole depending on the first message. For x-explain it returns
// the attributes and metadata that it got in x-got; for x-quiet it requests no headers of the response.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { ProcessingModeSchema } from '#proxy/envoy/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode.gen.ts'
import {
  ExternalProcessor,
  ProcessingResponseSchema,
  type ProcessingRequest,
} from '#proxy/envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import { bidiMethod } from '#proxy/grpc/server.testing.ts'

type Reply = MessageInitShape<typeof ProcessingResponseSchema>

const FULL_DUPLEX_STREAMED = 4
/** Mode of headers. */
const SKIP = 2
const REFUSED: Reply = {
  response: {
    case: 'immediateResponse',
    value: { status: { code: 403 }, body: Buffer.from('the processor refuses') },
  },
}

export const processor = bidiMethod(ExternalProcessor.method.process, (call) => {
  let isStreamed = { request: false, response: false }
  call.on('data', (message: ProcessingRequest) => {
    const { protocolConfig } = message
    if (protocolConfig !== undefined) {
      isStreamed = {
        request: protocolConfig.requestBodyMode === FULL_DUPLEX_STREAMED,
        response: protocolConfig.responseBodyMode === FULL_DUPLEX_STREAMED,
      }
    }
    const reply = replyTo(message, isStreamed)
    if (reply !== undefined) call.write(create(ProcessingResponseSchema, reply))
  })
  call.on('end', () => call.end())
  call.on('error', () => undefined)
})

function replyTo(message: ProcessingRequest, isStreamed: { request: boolean; response: boolean }): Reply | undefined {
  const { request } = message
  if (request.case === undefined) return undefined
  if (request.case === 'requestHeaders') {
    const has = (name: string): boolean => request.value.headers?.headers.some(({ key }) => key === name) === true
    const dynamicMetadata = { tenant: 'shop' }
    const override = has('x-quiet') ? { modeOverride: create(ProcessingModeSchema, { responseHeaderMode: SKIP }) } : {}
    const marks = { 'x-processed': 'yes', ...(has('x-explain') ? { 'x-got': receivedIn(message) } : {}) }
    return has('x-forbidden') ? REFUSED : { ...marked('requestHeaders', marks), ...override, dynamicMetadata }
  }
  if (request.case === 'responseHeaders') {
    return marked('responseHeaders', { 'x-checked': 'yes', 'x-got': receivedIn(message) })
  }
  if (request.case === 'requestBody') {
    const { body, endOfStream } = request.value
    const loud = Buffer.from(Buffer.from(body).toString('utf8').toUpperCase())
    return changed('requestBody', { body: loud, endOfStream, isStreamed: isStreamed.request })
  }
  if (request.case === 'responseBody') {
    return changed('responseBody', { ...request.value, isStreamed: isStreamed.response })
  }
  return { response: { case: request.case, value: {} } }
}

function receivedIn({ attributes, metadataContext }: ProcessingRequest): string {
  return JSON.stringify({ attributes: Object.values(attributes)[0], metadata: metadataContext?.filterMetadata })
}

function marked(kind: 'requestHeaders' | 'responseHeaders', marks: Readonly<Record<string, string>>): Reply {
  const setHeaders = Object.entries(marks).map(([key, value]) => ({ header: { key, rawValue: Buffer.from(value) } }))
  return { response: { case: kind, value: { response: { headerMutation: { setHeaders } } } } }
}

function changed(
  kind: 'requestBody' | 'responseBody',
  { body, endOfStream, isStreamed }: { body: Uint8Array; endOfStream: boolean; isStreamed: boolean },
): Reply {
  const bytes = new Uint8Array(body)
  const mutation = isStreamed
    ? ({ case: 'streamedResponse', value: { body: bytes, endOfStream } } as const)
    : ({ case: 'body', value: bytes } as const)
  return { response: { case: kind, value: { response: { bodyMutation: { mutation } } } } }
}
