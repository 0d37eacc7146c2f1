// node hack/otlp-descriptors.ts <module folder> <file>: puts the file descriptors that the generated Go code of the
// OpenTelemetry protocol embeds into one descriptor set, which buf reads as an image.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'

/** Each after those it imports. */
const FILES = [
  'common/v1/common.pb.go',
  'resource/v1/resource.pb.go',
  'trace/v1/trace.pb.go',
  'logs/v1/logs.pb.go',
  'collector/trace/v1/trace_service.pb.go',
  'collector/logs/v1/logs_service.pb.go',
]

const [folder = '', target = ''] = process.argv.slice(2)
const file = FILES.map((name) => {
  const source = readFileSync(join(folder, name), 'utf8')
  const literal = /_rawDesc = \[\]byte\{([^}]*)\}/.exec(source)?.[1]
  if (literal === undefined) throw new Error(`${name} embeds no descriptor`)
  const bytes = literal.match(/0x[0-9a-f]{2}/g) ?? []
  return fromBinary(FileDescriptorProtoSchema, Uint8Array.from(bytes, Number))
})
writeFileSync(target, toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file })))
