// OTLP collectors for tests, gRPC and HTTP: another implementation than ours decodes what comes (the OpenTelemetry
// project's own, generated from the official definitions). Not used by the proxy.
import { createServer } from 'node:http'
import { Server, ServerCredentials, status as GrpcCode, type Metadata } from '@grpc/grpc-js'
import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js'
import { closeServer, listening } from '../../test/ports.ts'

export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly traceState: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code?: number; readonly message?: string } | null
  readonly startNanos: bigint
  readonly endNanos: bigint
}

export interface ReceivedLog {
  readonly body: unknown
  readonly severityText: string
  readonly severityNumber: number
  readonly traceId: string
  readonly spanId: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** How the collector answers the next calls, in turn; then it accepts. */
export interface ScriptedAnswer {
  /** gRPC code. */
  readonly code?: number
  readonly metadata?: Metadata
  readonly httpStatus?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly rejected?: number
}

export interface TestCollector {
  readonly port: number
  readonly spans: ReceivedSpan[]
  readonly logs: ReceivedLog[]
  readonly resources: Readonly<Record<string, unknown>>[]
  readonly scopes: string[]
  /** Path of every call. */
  readonly calls: string[]
  readonly answers: ScriptedAnswer[]
  stop(): void
}

// What the decoder makes of messages, and its own generated classes, are declared with no better type than this.
type Decoded = Readonly<Record<string, any>> // oxlint-disable-line typescript/no-explicit-any -- see above

const proto: Decoded = (root as Decoded)['opentelemetry'].proto

class Received {
  readonly spans: ReceivedSpan[] = []
  readonly logs: ReceivedLog[] = []
  readonly resources: Readonly<Record<string, unknown>>[] = []
  readonly scopes: string[] = []
  readonly calls: string[] = []
  readonly answers: ScriptedAnswer[] = []

  traces(bytes: Uint8Array): void {
    const request = proto['collector'].trace.v1.ExportTraceServiceRequest
    const message = request.toObject(request.decode(bytes), { longs: String, defaults: true })
    for (const { resource, scopeSpans } of message['resourceSpans']) {
      this.resources.push(attributesOf(resource.attributes))
      for (const { scope, spans } of scopeSpans) {
        this.scopes.push(scope.name)
        for (const span of spans) this.spans.push(spanOf(span))
      }
    }
  }

  logRecords(bytes: Uint8Array): void {
    const request = proto['collector'].logs.v1.ExportLogsServiceRequest
    const message = request.toObject(request.decode(bytes), { longs: String, defaults: true })
    for (const { resource, scopeLogs } of message['resourceLogs']) {
      this.resources.push(attributesOf(resource.attributes))
      for (const { scope, logRecords } of scopeLogs) {
        this.scopes.push(scope.name)
        for (const record of logRecords) this.logs.push(logOf(record))
      }
    }
  }
}

/** `wantedPort` 0: any. */
export async function grpcCollector(wantedPort = 0): Promise<TestCollector> {
  const received = new Received()
  const server = new Server()
  const add = (service: string, take: (bytes: Uint8Array) => void, rejectedField: number): void => {
    const path = `/opentelemetry.proto.collector.${service}/Export`
    const raw = {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    }
    const answer = (
      { request }: { request: Buffer },
      reply: (error: unknown, value?: Uint8Array, trailers?: Metadata) => void,
    ): void => {
      received.calls.push(path)
      const { code, metadata, rejected } = received.answers.shift() ?? {}
      if (code !== undefined) {
        reply({ code, details: 'scripted', metadata })
        return
      }
      take(request)
      // partial_success { rejected } of both services.
      reply(null, rejected === undefined ? Buffer.alloc(0) : Buffer.from([0x0a, 2, rejectedField, rejected]))
    }
    // The library types definitions by service interfaces that generated clients have; these are made by hand.
    server.addService({ [path]: raw }, { [path]: answer } as never)
  }
  add('trace.v1.TraceService', (bytes) => received.traces(bytes), 0x08)
  add('logs.v1.LogsService', (bytes) => received.logRecords(bytes), 0x08)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${wantedPort}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  return Object.assign(received, { port, stop: () => server.forceShutdown() })
}

export async function httpCollector(wantedPort = 0): Promise<TestCollector> {
  const received = new Received()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.calls.push(`${request.method} ${request.url} ${request.headers['content-type']}`)
      const { httpStatus = 200, headers = {}, rejected } = received.answers.shift() ?? {}
      if (httpStatus === 200) {
        if (request.url?.includes('logs') === true) received.logRecords(Buffer.concat(chunks))
        else received.traces(Buffer.concat(chunks))
      }
      response.writeHead(httpStatus, { 'content-type': 'application/x-protobuf', ...headers })
      response.end(rejected === undefined ? undefined : Buffer.from([0x0a, 2, 0x08, rejected]))
    })
  })
  const port = await listening(server, wantedPort)
  return Object.assign(received, { port, stop: () => closeServer(server) })
}

export const UNAVAILABLE = GrpcCode.UNAVAILABLE
export const INVALID_ARGUMENT = GrpcCode.INVALID_ARGUMENT
export const RESOURCE_EXHAUSTED = GrpcCode.RESOURCE_EXHAUSTED

function spanOf(span: Decoded): ReceivedSpan {
  return {
    name: span['name'],
    kind: span['kind'],
    traceId: hex(span['traceId']),
    spanId: hex(span['spanId']),
    parentSpanId: hex(span['parentSpanId']),
    traceState: span['traceState'],
    attributes: attributesOf(span['attributes']),
    status: span['status'],
    startNanos: BigInt(span['startTimeUnixNano']),
    endNanos: BigInt(span['endTimeUnixNano']),
  }
}

function logOf(record: Decoded): ReceivedLog {
  return {
    body: valueOf(record['body']),
    severityText: record['severityText'],
    severityNumber: record['severityNumber'],
    traceId: hex(record['traceId']),
    spanId: hex(record['spanId']),
    attributes: attributesOf(record['attributes']),
  }
}

function attributesOf(list: readonly Decoded[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]))
}

/** Only the member of the union that is set survives `toObject` without defaults; with them the set one is not null. */
function valueOf(value: Decoded): unknown {
  for (const kind of ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'bytesValue']) {
    const own = value[kind]
    if (own !== undefined && own !== null) return kind === 'intValue' ? Number(own) : own
  }
  if (value['arrayValue'] !== undefined) return value['arrayValue'].values.map(valueOf)
  if (value['kvlistValue'] !== undefined) return attributesOf(value['kvlistValue'].values)
  return undefined
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
