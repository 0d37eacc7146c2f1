// Bounds of HTTP/2 towards clients, with their defaults and reasons. docs/http2.md lists them for users.
import type { ServerSessionOptions } from 'node:http2'
import type { ConnectionLimits } from '../http/handler.ts'

/** Streams of one connection at a time. */
const STREAMS_MAX = 100
/**
 * Streams whose end has not been worked off here though the client, which reset them, counts them no more. Beyond this
 * a stream is refused unseen, so that resets cannot start more work than the limit of streams allows.
 */
export const STREAMS_LINGERING_MAX = 2 * STREAMS_MAX
/** Fields of one header block, pseudo fields included. */
const HEADER_PAIRS_MAX = 128
/** `frontend.http.http2MaxHeaderSize`: names, values and 32 bytes for each field (RFC 9113 section 6.5.2). */
const HEADER_BYTES_MAX = 16_384
/** Unread bytes of a stream: with 100 streams at most 6.4 MB a connection. */
const WINDOW_BYTES = 65_535
const CONNECTION_WINDOW_BYTES = 1_048_576
const FRAME_BYTES = 16_384
/** Megabytes of one session, as node counts them; a stream beyond is rejected. */
const SESSION_MEMORY_MAX = 16
/** Own pings without an answer. */
const PINGS_OUTSTANDING_MAX = 10
/** Entries of one SETTINGS frame. */
const SETTINGS_ENTRIES_MAX = 32
const INVALID_FRAMES_MAX = 100
const REJECTED_STREAMS_MAX = 100

/**
 * Streams that end by a reset, whoever sends it (CVE-2023-44487, CVE-2025-8671): so many at once, and so many each
 * second. A client that cancels what it began stays far below.
 */
export const RESETS = { burst: 500, perSecond: 50 } as const
/**
 * PING and SETTINGS of the client (CVE-2019-9512, CVE-2019-9515). Each piece of data earns one: clients measure with
 * pings.
 */
export const CONTROLS = { burst: 1000, perSecond: 100 } as const

export const KEEPALIVE_TIMEOUT_MS = 20_000
/** A client that sent no bytes of its SETTINGS and no stream. */
export const FIRST_STREAM_MS = 30_000
/** Between the announcement of the end (GOAWAY with the highest stream id) and the end of new streams, at the most. */
export const GOAWAY_NOTICE_MS = 1000

export function headerBytesMaxOf({ http2 }: ConnectionLimits): number {
  return http2?.headerBytesMax ?? HEADER_BYTES_MAX
}

export function connectionWindowOf({ http2 }: ConnectionLimits): number {
  return http2?.connectionWindowBytes ?? CONNECTION_WINDOW_BYTES
}

export function sessionOptions(limits: ConnectionLimits): ServerSessionOptions {
  const { http2 } = limits
  return {
    settings: {
      enablePush: false,
      // RFC 8441: WebSocket on a stream.
      enableConnectProtocol: true,
      maxConcurrentStreams: STREAMS_MAX,
      maxHeaderListSize: headerBytesMaxOf(limits),
      initialWindowSize: http2?.windowBytes ?? WINDOW_BYTES,
      maxFrameSize: http2?.frameBytes ?? FRAME_BYTES,
    },
    maxHeaderListPairs: HEADER_PAIRS_MAX,
    maxSessionMemory: SESSION_MEMORY_MAX,
    maxOutstandingPings: PINGS_OUTSTANDING_MAX,
    maxSettings: SETTINGS_ENTRIES_MAX,
    maxSessionInvalidFrames: INVALID_FRAMES_MAX,
    maxSessionRejectedStreams: REJECTED_STREAMS_MAX,
    // The native count sees resets within one read, before any code here does. Twice as large, so that a client that
    // goes slower than that gets the clearer answer of the count here.
    streamResetBurst: 2 * RESETS.burst,
    streamResetRate: 2 * RESETS.perSecond,
    strictSingleValueFields: false,
  }
}
