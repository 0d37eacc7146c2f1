// A scrape as length-delimited messages `io.prometheus.client.MetricFamily`: the format that Prometheus requests for
// native histograms. Encoding only.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

export const PROTOBUF_CONTENT_TYPE =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'

type Labels = Readonly<Record<string, string>>

export interface Value {
  readonly labels: Labels
  readonly value: number
}

export interface Distribution {
  readonly labels: Labels
  readonly count: number
  readonly sum: number
  /** Cumulative, without the last. */
  readonly buckets: readonly { readonly upperBound: number; readonly count: number }[]
}

export type ProtobufFamily = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly values: readonly Value[] }
  | { readonly type: 'histogram'; readonly values: readonly Distribution[] }
)

/** Numbers of `MetricType`, and of the field of `Metric` that has the value. */
const COUNTER = { type: 0, field: 3 }
const GAUGE = { type: 1, field: 2 }
const HISTOGRAM = { type: 4, field: 7 }

export function encodeFamilies(families: Iterable<ProtobufFamily>): Uint8Array {
  const all = new BinaryWriter()
  for (const family of families) if (family.values.length > 0) all.bytes(encodeFamily(family))
  return all.finish()
}

function encodeFamily(family: ProtobufFamily): Uint8Array {
  const writer = new BinaryWriter()
  writer.tag(1, WireType.LengthDelimited).string(family.name)
  writer.tag(2, WireType.LengthDelimited).string(family.help)
  const { type, field } = family.type === 'histogram' ? HISTOGRAM : family.type === 'gauge' ? GAUGE : COUNTER
  writer.tag(3, WireType.Varint).int32(type)
  if (family.type === 'histogram') {
    for (const one of family.values) {
      writeMetric(writer, { labels: one.labels, field }, () => writeDistribution(writer, one))
    }
  } else {
    for (const { labels, value } of family.values) {
      writeMetric(writer, { labels, field }, () => writer.tag(1, WireType.Bit64).double(value))
    }
  }
  return writer.finish()
}

interface MetricHead {
  readonly labels: Labels
  readonly field: number
}

function writeMetric(writer: BinaryWriter, { labels, field }: MetricHead, write: () => void): void {
  writer.tag(4, WireType.LengthDelimited).fork()
  for (const [name, value] of Object.entries(labels)) {
    writer.tag(1, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).string(name).tag(2, WireType.LengthDelimited).string(value).join()
  }
  writer.tag(field, WireType.LengthDelimited).fork()
  write()
  writer.join().join()
}

function writeDistribution(writer: BinaryWriter, { count, sum, buckets }: Distribution): void {
  writer.tag(1, WireType.Varint).uint64(count).tag(2, WireType.Bit64).double(sum)
  for (const bucket of buckets) {
    writer.tag(3, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.Varint).uint64(bucket.count).tag(2, WireType.Bit64).double(bucket.upperBound).join()
  }
}
