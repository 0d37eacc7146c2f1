// What answers of a collector mean, by both protocols, over real connections.
import { Metadata } from '@grpc/grpc-js'
import { create, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { DurationSchema } from '@bufbuild/protobuf/wkt'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort } from '#test/ports.ts'
import { StatusSchema } from '../envoy/gen/google/rpc/status.gen.ts'
import { testService } from '../policy/external/service.testing.ts'
import {
  grpcCollector,
  httpCollector,
  INVALID_ARGUMENT,
  RESOURCE_EXHAUSTED,
  UNAVAILABLE,
  type ScriptedAnswer,
} from '#proxy/otlp/collector.testing.ts'
import { TraceService } from './gen/opentelemetry/proto/collector/trace/v1/trace_service.gen.ts'
import { retryAfterMs, retryInfoMs } from './retry-info.ts'
import { sendBatch, type OtlpChannel } from './transport.ts'

const cleanUp: (() => void)[] = []

afterEach(() => {
  for (const clean of cleanUp.splice(0)) clean()
})

const SIGNAL = {
  method: TraceService.method.export,
  rejected: ({ partialSuccess }: { partialSuccess?: { rejectedSpans: bigint } | undefined }) =>
    Number(partialSuccess?.rejectedSpans ?? 0n),
}

function channelOf(port: number, protocol: OtlpChannel['protocol']): OtlpChannel {
  const service = testService(port)
  cleanUp.push(() => service.close())
  return { caller: service.caller, protocol, path: '/v1/traces' }
}

const send = (channel: OtlpChannel) => sendBatch(channel, SIGNAL, create(SIGNAL.method.input), 5000)

function retryInfo(seconds: number): Metadata {
  const info = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .bytes(toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(seconds), nanos: 500_000_000 })))
    .finish()
  const details = [{ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value: info }]
  const metadata = new Metadata()
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, create(StatusSchema, { details }))))
  return metadata
}

describe('gRPC', () => {
  it.each<[string, ScriptedAnswer, object]>([
    ['success', {}, { kind: 'Accepted', rejected: 0 }],
    ['a part', { rejected: 3 }, { kind: 'Accepted', rejected: 3 }],
    ['unavailable', { code: UNAVAILABLE }, { kind: 'Later', afterMs: undefined }],
    ['unavailable for a while', { code: UNAVAILABLE, metadata: retryInfo(2) }, { kind: 'Later', afterMs: 2500 }],
    ['a bad request', { code: INVALID_ARGUMENT }, { kind: 'Refused' }],
    ['exhausted for good', { code: RESOURCE_EXHAUSTED }, { kind: 'Refused' }],
    ['exhausted for a while', { code: RESOURCE_EXHAUSTED, metadata: retryInfo(1) }, { kind: 'Later', afterMs: 1500 }],
  ])('%s', async (_, answer, outcome) => {
    const collector = await grpcCollector()
    cleanUp.push(() => collector.stop())
    collector.answers.push(answer)
    expect(await send(channelOf(collector.port, 'GRPC'))).toMatchObject(outcome)
  })
})

describe('HTTP', () => {
  it.each<[string, ScriptedAnswer, object]>([
    ['success', {}, { kind: 'Accepted', rejected: 0 }],
    ['a part', { rejected: 3 }, { kind: 'Accepted', rejected: 3 }],
    ['503', { httpStatus: 503 }, { kind: 'Later', afterMs: undefined }],
    ['429 for a while', { httpStatus: 429, headers: { 'retry-after': '2' } }, { kind: 'Later', afterMs: 2000 }],
    ['400', { httpStatus: 400 }, { kind: 'Refused', detail: 'the collector answered 400' }],
    ['500', { httpStatus: 500 }, { kind: 'Refused' }],
  ])('%s', async (_, answer, outcome) => {
    const collector = await httpCollector()
    cleanUp.push(() => collector.stop())
    collector.answers.push(answer)
    expect(await send(channelOf(collector.port, 'HTTP'))).toMatchObject(outcome)
  })
})

describe('no collector', () => {
  it.each(['GRPC', 'HTTP'] as const)('is worth another try, %s', async (protocol) => {
    expect(await send(channelOf(await freePort(), protocol))).toMatchObject({ kind: 'Later' })
  })

  it('is refused when the reference names nothing', async () => {
    expect(await send({ caller: undefined, protocol: 'GRPC', path: '' })).toMatchObject({ kind: 'Refused' })
  })
})

describe('when to come back', () => {
  it.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['0', 0],
    ['120', 120_000],
    ['Thu, 01 Jan 1970 00:00:10 GMT', 9000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('Retry-After: %s', (field, ms) => {
    expect(retryAfterMs(field, 1000)).toBe(ms)
  })

  it('is not read from an invalid status', () => {
    expect([retryInfoMs(undefined), retryInfoMs('////'), retryInfoMs('')]).toEqual([undefined, undefined, undefined])
  })
})
