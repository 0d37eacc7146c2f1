// What comes back from a provider: whole answers, errors and streams, in the client's format.
import { jsonExcess } from '#api/bounded-json.ts'
import { BodyTooLarge } from '../http/body.ts'
import type { HeaderList } from '../http/headers.ts'
import { HttpResponse } from '../http/message.ts'
import type { UpstreamResponse } from '../upstream/target.ts'
import { decode, DecodedTooLarge } from './encoding.ts'
import { parseObject, type JsonObject } from './json.ts'
import type { ReplyContext } from './reply-context.ts'
import { passThroughStream, translatedStream } from './stream.ts'
import { messagesErrorToCompletions, messagesToCompletions } from './translate/completions-response.ts'
import { observe } from './usage.ts'

export async function makeReply(context: ReplyContext, upstream: UpstreamResponse): Promise<HttpResponse> {
  const { call } = context
  const isStream = upstream.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (upstream.status < 400 && isStream) {
    context.facts.isStreaming = true
    const body =
      call.clientFormat === call.sentFormat
        ? passThroughStream(context, upstream.body)
        : translatedStream(context, upstream.body)
    return new HttpResponse(upstream.status, ownHeaders(upstream.headers, 'text/event-stream'), body, false)
  }
  const bytes = await readWhole(context, upstream)
  if (!Buffer.isBuffer(bytes)) return bytes
  const text = bytes.toString('utf8')
  const json = parseObject(text)
  if (upstream.status >= 400) return errorReply(context, upstream, bytes, json)
  if (json === undefined) {
    return invalid(context, jsonExcess(text) ?? 'the provider sent a body that is not a JSON object')
  }
  observe(context.facts, call.sentFormat, json)
  if (call.clientFormat === call.sentFormat) {
    return new HttpResponse(upstream.status, ownHeaders(upstream.headers, undefined), bytes, false)
  }
  return jsonReply(upstream, messagesToCompletions(json, Math.trunc(Date.now() / 1000)))
}

/** Errors keep their status; a body that is not an error of the provider's format is a bad gateway. */
function errorReply(
  context: ReplyContext,
  upstream: UpstreamResponse,
  bytes: Buffer,
  json: JsonObject | undefined,
): HttpResponse {
  const { call } = context
  if (call.clientFormat === call.sentFormat) {
    return new HttpResponse(upstream.status, ownHeaders(upstream.headers, undefined), bytes, false)
  }
  const error = json === undefined ? undefined : messagesErrorToCompletions(json)
  if (error === undefined) {
    return invalid(context, `the provider answered ${upstream.status} with a body that is not an error of its format`)
  }
  return jsonReply(upstream, error)
}

async function readWhole(context: ReplyContext, upstream: UpstreamResponse): Promise<Buffer | HttpResponse> {
  const { bodyBytesMax } = context
  try {
    const raw = await upstream.body.collect(bodyBytesMax)
    return await decode(raw, upstream.headers.get('content-encoding'), bodyBytesMax)
  } catch (error) {
    if (error instanceof BodyTooLarge || error instanceof DecodedTooLarge) return invalid(context, error.message)
    return invalid(context, `the answer could not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function invalid({ exchange }: ReplyContext, detail: string): HttpResponse {
  return exchange.failVisibly('llmResponseInvalid', detail)
}

function jsonReply(upstream: UpstreamResponse, json: JsonObject): HttpResponse {
  const headers = ownHeaders(upstream.headers, 'application/json')
  return new HttpResponse(upstream.status, headers, Buffer.from(JSON.stringify(json)), false)
}

/** The body was decoded or rewritten: its framing and coding fields no longer hold. */
function ownHeaders(from: HeaderList, contentType: string | undefined): HeaderList {
  const headers = from.clone()
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.remove(name)
  if (contentType !== undefined) headers.set('content-type', contentType)
  return headers
}
