// A processor on @grpc/grpc-js that a test controls, and that records its messages; not used by the proxy.
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import {
  ExternalProcessor,
  HeaderMutationSchema,
  ProcessingResponseSchema,
  type ProcessingRequest,
  type ProcessingResponse,
} from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import { bidiMethod, grpcServer, type GrpcServerOptions } from '../../../grpc/server.testing.ts'

export type Reply = MessageInitShape<typeof ProcessingResponseSchema>
export type Call = ServerDuplexStream<ProcessingRequest, ProcessingResponse>

export interface Talk {
  readonly call: Call
  readonly seen: readonly ProcessingRequest[]
  reply(reply: Reply): void
}

/** The reaction to each message. */
export type Script = (request: ProcessingRequest, talk: Talk) => void

export interface Processor {
  readonly port: number
  /** Messages of all streams, in the order of arrival. */
  readonly seen: ProcessingRequest[]
  readonly calls: Call[]
  /** Streams that are not yet over. */
  readonly open: number
  script: Script
  /** Drops the recorded messages. */
  reset(script: Script): void
  stop(): void
}

export async function startProcessor(options: GrpcServerOptions = {}): Promise<Processor> {
  const seen: ProcessingRequest[] = []
  const calls: Call[] = []
  const open = new Set<Call>()
  const state = { script: (() => undefined) as Script }
  const server = await grpcServer(
    [
      bidiMethod(ExternalProcessor.method.process, (call) => {
        calls.push(call)
        open.add(call)
        const own: ProcessingRequest[] = []
        const talk: Talk = {
          call,
          seen: own,
          reply: (reply) => void call.write(create(ProcessingResponseSchema, reply)),
        }
        call.on('data', (request: ProcessingRequest) => {
          seen.push(request)
          own.push(request)
          state.script(request, talk)
        })
        call.on('end', () => call.end())
        call.on('error', () => open.delete(call))
        call.on('close', () => open.delete(call))
        call.on('finish', () => open.delete(call))
        call.on('cancelled', () => open.delete(call))
      }),
    ],
    options,
  )
  return {
    port: server.port,
    seen,
    calls,
    get open() {
      return open.size
    },
    get script() {
      return state.script
    },
    set script(script) {
      state.script = script
    },
    reset(script) {
      seen.length = 0
      calls.length = 0
      state.script = script
    },
    stop: () => server.kill(),
  }
}

/** Responses that change nothing: streamed chunks are returned in chunks. */
export const passing: Script = (request, talk) => {
  const reply = unchanged(request)
  if (reply !== undefined) talk.reply(reply)
}

export function unchanged({ request }: ProcessingRequest): Reply | undefined {
  if (request.case === undefined) return undefined
  if (request.case !== 'requestBody' && request.case !== 'responseBody') {
    return { response: { case: request.case, value: {} } }
  }
  return piece(request.case, request.value.body, request.value.endOfStream)
}

/** One chunk of a streamed body. */
export function piece(kind: 'requestBody' | 'responseBody', body: Uint8Array, endOfStream: boolean): Reply {
  const value = { body: new Uint8Array(body), endOfStream }
  const mutation = { case: 'streamedResponse', value } as const
  return { response: { case: kind, value: { response: { bodyMutation: { mutation } } } } }
}

/** Responses that change nothing, for parts that are sent one after the other. */
export const empty: Script = ({ request }, talk) => {
  if (request.case !== undefined) talk.reply({ response: { case: request.case, value: {} } })
}

/** Like `otherwise`, except for the parts with their own response. */
export function scripted(replies: Partial<Record<string, Reply>>, otherwise: Script = passing): Script {
  return (request, talk) => {
    const reply = replies[request.request.case ?? '']
    if (reply === undefined) otherwise(request, talk)
    else talk.reply(reply)
  }
}

export type Fields = Readonly<Record<string, string>>

export function mutation(set: Fields, removeHeaders: string[] = []): MessageInitShape<typeof HeaderMutationSchema> {
  const setHeaders = Object.entries(set).map(([key, value]) => ({ header: { key, rawValue: Buffer.from(value) } }))
  return { setHeaders, removeHeaders }
}

/** A response to headers. */
export function headers(
  kind: 'requestHeaders' | 'responseHeaders',
  set: Fields,
  more: { readonly remove?: string[]; readonly common?: object; readonly reply?: object } = {},
): Reply {
  const value = { response: { headerMutation: mutation(set, more.remove), ...more.common } }
  return { response: { case: kind, value }, ...more.reply }
}

/** A response that replaces a body. */
export function whole(kind: 'requestBody' | 'responseBody', body: string, set: Fields = {}): Reply {
  const bodyMutation = { mutation: { case: 'body', value: Buffer.from(body) } } as const
  return { response: { case: kind, value: { response: { headerMutation: mutation(set), bodyMutation } } } }
}

export function immediate(value: object): Reply {
  return { response: { case: 'immediateResponse', value } }
}

/** Names of the parts, with `+` at the end of the stream. */
export function partsOf(seen: readonly ProcessingRequest[]): string[] {
  return seen.map(({ request }) => {
    const isEnd = request.case !== undefined && 'endOfStream' in request.value && request.value.endOfStream
    return `${request.case}${isEnd ? '+' : ''}`
  })
}

export function bodyOf(seen: readonly ProcessingRequest[], kind: 'requestBody' | 'responseBody'): string {
  return Buffer.concat(
    seen.flatMap(({ request }) => (request.case === kind ? [Buffer.from(request.value.body)] : [])),
  ).toString('utf8')
}

export function headersOf(request: ProcessingRequest | undefined): Record<string, string> {
  const part = request?.request
  const map =
    part?.case === 'requestHeaders' || part?.case === 'responseHeaders'
      ? part.value.headers
      : part?.case === 'requestTrailers' || part?.case === 'responseTrailers'
        ? part.value.trailers
        : undefined
  return Object.fromEntries(
    (map?.headers ?? []).map(({ key, rawValue }) => [key, Buffer.from(rawValue).toString('latin1')]),
  )
}

/** Modes of processing that tests combine. */
export const NO_BODIES = { requestBodyMode: 'None', responseBodyMode: 'None' } as const
export const BUFFERED = { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' } as const
export const SKIPPED = {
  requestHeaderMode: 'Skip',
  responseHeaderMode: 'Skip',
  requestTrailerMode: 'Skip',
  responseTrailerMode: 'Skip',
} as const
