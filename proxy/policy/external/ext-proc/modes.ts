// Which parts of a message are sent to the processor, and how bodies are sent. Data only.
import type { ExtProcOptions } from '#api/ir/types.gen.ts'
import {
  ProcessingMode_BodySendMode as WireBody,
  ProcessingMode_HeaderSendMode as WirePart,
  type ProcessingMode,
} from '../../../envoy/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode.gen.ts'

/** `Streamed` (one response for each chunk) only by override: the API does not have it. */
export type BodyMode = 'None' | 'Streamed' | 'Buffered' | 'BufferedPartial' | 'FullDuplexStreamed'
export type SideName = 'request' | 'response'

export interface SideModes {
  readonly sendsHeaders: boolean
  readonly body: BodyMode
  readonly sendsTrailers: boolean
}

export type Modes = { readonly [S in SideName]: SideModes }

const WIRE_BODY = {
  None: WireBody.NONE,
  Streamed: WireBody.STREAMED,
  Buffered: WireBody.BUFFERED,
  BufferedPartial: WireBody.BUFFERED_PARTIAL,
  FullDuplexStreamed: WireBody.FULL_DUPLEX_STREAMED,
} as const satisfies Record<BodyMode, number>

const BODY_BY_WIRE: ReadonlyMap<number, BodyMode> = new Map([
  [WireBody.NONE, 'None'],
  [WireBody.STREAMED, 'Streamed'],
  [WireBody.BUFFERED, 'Buffered'],
  [WireBody.BUFFERED_PARTIAL, 'BufferedPartial'],
  [WireBody.FULL_DUPLEX_STREAMED, 'FullDuplexStreamed'],
])

/** The defaults are those of the schema. */
export function modesOf(options: ExtProcOptions = {}): Modes {
  return {
    request: sideModes({
      sendsHeaders: options.requestHeaderMode !== 'Skip',
      body: options.requestBodyMode ?? 'FullDuplexStreamed',
      sendsTrailers: options.requestTrailerMode !== 'Skip',
    }),
    response: sideModes({
      sendsHeaders: options.responseHeaderMode !== 'Skip',
      body: options.responseBodyMode ?? 'FullDuplexStreamed',
      sendsTrailers: options.responseTrailerMode !== 'Skip',
    }),
  }
}

export function wireBodyMode(mode: BodyMode): (typeof WIRE_BODY)[BodyMode] {
  return WIRE_BODY[mode]
}

/** The modes that a processor requests in its response to the headers of `side`; past parts are not affected. */
export function overriddenModes(modes: Modes, override: ProcessingMode, side: SideName): Modes {
  const { request, response } = modes
  return {
    request:
      side === 'response'
        ? request
        : sideModes({
            sendsHeaders: request.sendsHeaders,
            body: BODY_BY_WIRE.get(override.requestBodyMode) ?? request.body,
            sendsTrailers: sends(override.requestTrailerMode, request.sendsTrailers),
          }),
    response: sideModes({
      sendsHeaders: side === 'response' || sends(override.responseHeaderMode, response.sendsHeaders),
      body: BODY_BY_WIRE.get(override.responseBodyMode) ?? response.body,
      sendsTrailers: sends(override.responseTrailerMode, response.sendsTrailers),
    }),
  }
}

/** A streamed body ends with its trailers: they are never skipped (data-plane supplement section 7.4). */
function sideModes(modes: SideModes): SideModes {
  return modes.body === 'FullDuplexStreamed' ? { ...modes, sendsTrailers: true } : modes
}

function sends(mode: number, configured: boolean): boolean {
  if (mode === WirePart.SEND) return true
  return mode === WirePart.SKIP ? false : configured
}
