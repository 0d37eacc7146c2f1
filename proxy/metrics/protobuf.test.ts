import protobuf from 'protobufjs'
import { describe, expect, it } from 'vitest'
import { encodeFamilies, type ProtobufFamily } from './protobuf.ts'

/** The part of the public definition that is used, for an independent decoder. */
const SCHEMA = `
syntax = "proto2";
message LabelPair { optional string name = 1; optional string value = 2; }
message Gauge { optional double value = 1; }
message Counter { optional double value = 1; }
message Bucket { optional uint64 cumulative_count = 1; optional double upper_bound = 2; }
message Histogram { optional uint64 sample_count = 1; optional double sample_sum = 2; repeated Bucket bucket = 3; }
message Metric {
  repeated LabelPair label = 1; optional Gauge gauge = 2; optional Counter counter = 3; optional Histogram histogram = 7;
}
enum MetricType { COUNTER = 0; GAUGE = 1; SUMMARY = 2; UNTYPED = 3; HISTOGRAM = 4; }
message MetricFamily {
  optional string name = 1; optional string help = 2; optional MetricType type = 3; repeated Metric metric = 4;
}`

const family = protobuf.parse(SCHEMA, { keepCase: true }).root.lookupType('MetricFamily')

function decoded(bytes: Uint8Array): unknown[] {
  const reader = protobuf.Reader.create(bytes)
  const found: unknown[] = []
  while (reader.pos < reader.len) {
    found.push(family.toObject(family.decodeDelimited(reader), { longs: Number, enums: String }))
  }
  return found
}

describe('encodeFamilies', () => {
  it('writes counters, gauges and histograms', () => {
    const families: ProtobufFamily[] = [
      { name: 'a_total', help: 'A', type: 'counter', values: [{ labels: { x: 'ä"\n', y: '' }, value: 2 ** 40 }] },
      { name: 'g', help: '', type: 'gauge', values: [{ labels: {}, value: 0.5 }] },
      { name: 'none', help: 'N', type: 'counter', values: [] },
      {
        name: 'h_seconds',
        help: 'H',
        type: 'histogram',
        values: [
          {
            labels: { x: '1' },
            count: 7,
            sum: 1.25,
            buckets: [
              { upperBound: 0.1, count: 3 },
              { upperBound: 1, count: 5 },
            ],
          },
        ],
      },
    ]
    const label = (name: string, value: string): unknown => ({ name, value })
    expect(decoded(encodeFamilies(families))).toEqual([
      {
        name: 'a_total',
        help: 'A',
        type: 'COUNTER',
        metric: [{ label: [label('x', 'ä"\n'), label('y', '')], counter: { value: 2 ** 40 } }],
      },
      { name: 'g', help: '', type: 'GAUGE', metric: [{ gauge: { value: 0.5 } }] },
      {
        name: 'h_seconds',
        help: 'H',
        type: 'HISTOGRAM',
        metric: [
          {
            label: [label('x', '1')],
            histogram: {
              sample_count: 7,
              sample_sum: 1.25,
              bucket: [
                { cumulative_count: 3, upper_bound: 0.1 },
                { cumulative_count: 5, upper_bound: 1 },
              ],
            },
          },
        ],
      },
    ])
  })
})
