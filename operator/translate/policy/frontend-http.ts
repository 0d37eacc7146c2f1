// frontend.http: limits towards clients.
import type { FrontendHTTP as RenderedHTTP, FrontendPayload } from '#api/ir/types.gen.ts'
import type { FrontendHTTP } from '#api/v1alpha1/gwpolicy.gen.ts'
import { parseByteSize } from '#api/units/byte-size.ts'
import { durationMs } from '../duration.ts'
import type { FieldTranslator } from './field.ts'

/** RFC 9113 section 6.9.1. */
const WINDOW_BYTES_MAX = 2_147_483_647
/** RFC 9113 section 6.9.2: a connection begins with it, and a window cannot be taken back. */
const CONNECTION_WINDOW_BYTES_MIN = 65_535
/** RFC 9113 section 4.2. */
const FRAME_BYTES = { min: 16_384, max: 16_777_215 } as const
/** Far above what any client sends; a list has to fit into the memory of its connection. */
const HEADER_BYTES_MAX = 1_048_576

export const frontendHttp: FieldTranslator<FrontendHTTP, FrontendPayload> = {
  failureMode: 'skip',
  translate: (value) => {
    const http = { ...render(value), ...renderHttp2(value) }
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

function renderHttp2(value: FrontendHTTP): RenderedHTTP {
  const window = sizeWithin(value.http2WindowSize, 1, WINDOW_BYTES_MAX)
  const connection = sizeWithin(value.http2ConnectionWindowSize, CONNECTION_WINDOW_BYTES_MIN, WINDOW_BYTES_MAX)
  const frame = sizeWithin(value.http2FrameSize, FRAME_BYTES.min, FRAME_BYTES.max)
  const headers = sizeWithin(value.http2MaxHeaderSize, 1, HEADER_BYTES_MAX)
  const { http2KeepaliveInterval: interval, http2KeepaliveTimeout: timeout } = value
  const intervalMs = interval === undefined ? undefined : durationMs(interval)
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
  return {
    ...(window !== undefined && { http2WindowBytes: window }),
    ...(connection !== undefined && { http2ConnectionWindowBytes: connection }),
    ...(frame !== undefined && { http2FrameBytes: frame }),
    ...(headers !== undefined && { http2HeaderBytesMax: headers }),
    ...(intervalMs !== undefined && { http2KeepaliveIntervalMs: intervalMs }),
    ...(timeoutMs !== undefined && { http2KeepaliveTimeoutMs: timeoutMs }),
  }
}

function sizeWithin(value: number | string | undefined, min: number, max: number): number | undefined {
  const bytes = value === undefined ? undefined : sizeOf(value)
  return bytes === undefined ? undefined : Math.min(Math.max(bytes, min), max)
}

/** A text that matches the pattern but is not a size counts as unset. */
function sizeOf(value: number | string): number | undefined {
  const outcome = parseByteSize(value)
  return 'bytes' in outcome ? outcome.bytes : undefined
}
