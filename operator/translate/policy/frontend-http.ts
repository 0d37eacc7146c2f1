// frontend.http: limits towards clients. HTTP/2 settings wait for HTTP/2; they are reported and have no effect.
import type { FrontendHTTP as RenderedHTTP, FrontendPayload } from '#api/ir/types.gen.ts'
import type { FrontendHTTP } from '#api/v1alpha1/gwpolicy.gen.ts'
import { parseByteSize } from '#api/units/byte-size.ts'
import { durationMs } from '../duration.ts'
import { type FieldTranslator, reportNotProgrammed } from './field.ts'

const HTTP2_FIELDS = [
  'http2WindowSize',
  'http2ConnectionWindowSize',
  'http2FrameSize',
  'http2MaxHeaderSize',
  'http2KeepaliveInterval',
  'http2KeepaliveTimeout',
] as const satisfies ReadonlyArray<keyof FrontendHTTP>

export const frontendHttp: FieldTranslator<FrontendHTTP, FrontendPayload> = {
  failureMode: 'skip',
  translate: (value, context) => {
    for (const field of HTTP2_FIELDS) if (value[field] !== undefined) reportNotProgrammed(context, field)
    const http = render(value)
    return Object.keys(http).length === 0 ? [] : [{ suffix: 'frontend-http', payload: { http } }]
  },
}

function render(value: FrontendHTTP): RenderedHTTP {
  const bufferBytesMax = value.maxBufferSize === undefined ? undefined : sizeOf(value.maxBufferSize)
  const http1IdleTimeoutMs = value.http1IdleTimeout === undefined ? undefined : durationMs(value.http1IdleTimeout)
  const maxDurationMs = value.maxConnectionDuration === undefined ? undefined : durationMs(value.maxConnectionDuration)
  return {
    ...(bufferBytesMax !== undefined && { bufferBytesMax }),
    ...(value.http1MaxHeaders !== undefined && { http1HeadersMax: value.http1MaxHeaders }),
    ...(http1IdleTimeoutMs !== undefined && { http1IdleTimeoutMs }),
    ...(value.http1HeaderCase !== undefined && { http1HeaderCase: value.http1HeaderCase }),
    ...(maxDurationMs !== undefined && { maxConnectionDurationMs: maxDurationMs }),
  }
}

/** A text that fits the pattern but is no size counts as not set. */
function sizeOf(value: number | string): number | undefined {
  const outcome = parseByteSize(value)
  return 'bytes' in outcome ? outcome.bytes : undefined
}
