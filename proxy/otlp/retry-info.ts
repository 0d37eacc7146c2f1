// What a collector says about when to come back: google.rpc.RetryInfo in a gRPC status, Retry-After in an HTTP answer.
import { fromBinary } from '@bufbuild/protobuf'
import { DurationSchema } from '@bufbuild/protobuf/wkt'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { StatusSchema } from '../envoy/gen/google/rpc/status.gen.ts'

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'
/** Of `retry_delay` in google.rpc.RetryInfo. */
const RETRY_DELAY = 1

/** `details`: base64 of a google.rpc.Status. undefined: there is none, or it says nothing. */
export function retryInfoMs(details: string | undefined): number | undefined {
  if (details === undefined) return undefined
  try {
    const status = fromBinary(StatusSchema, Buffer.from(details, 'base64'))
    const info = status.details.find(({ typeUrl }) => typeUrl === RETRY_INFO)
    return info === undefined ? undefined : delayOf(info.value)
  } catch {
    return undefined
  }
}

function delayOf(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field === RETRY_DELAY && wireType === WireType.LengthDelimited) {
      const { seconds, nanos } = fromBinary(DurationSchema, reader.bytes())
      return Number(seconds) * 1000 + nanos / 1e6
    }
    reader.skip(wireType)
  }
  return 0
}

/** Seconds or a date (RFC 9110 section 10.2.3). */
export function retryAfterMs(field: string | undefined, nowMs: number): number | undefined {
  if (field === undefined) return undefined
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000
  const at = Date.parse(field)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
