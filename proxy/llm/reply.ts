// Responses of a provider: whole responses, errors and streams, in the client's format.
import { jsonExcess } from '#api/bounded-json.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import { arrivedBody, TEXT_BYTES_MAX, textBody } from '../message/arrived-body.ts'
import type { Cancellable, StreamBody } from '../message/body.ts'
import type { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import type { UpstreamResponse } from '../upstream/target.ts'
import type { StreamDecoder } from './canonical/format.ts'
import { decode, DecodedTooLarge, decodeStream, isIdentity, UnknownEncoding } from './encoding.ts'
import { isFailedStatus } from './failover.ts'
import { statusOfKind } from './formats/error-kind.ts'
import type { ClientFraming, SentFormat } from './formats/format.ts'
import { observeInput } from './formats/plain/plain.ts'
import { FRAMES } from './frames.ts'
import { type AnswerCheck, answerCheck, checkAnswer } from './guards/answer.ts'
import { checkedEvents, checkedStream } from './guards/stream/guarded-stream.ts'
import { editedText, readJsonText } from './json-text.ts'
import { parseExactObject, parseObject, type JsonObject } from './json.ts'
import type { ReplyContext } from './reply-context.ts'
import { arrayOfEvents, jsonArrayStream } from './json-array.ts'
import { missingRetryAfter } from './retry-after.ts'
import { passThroughStream, translatedStream } from './stream.ts'
import { reportUnobserved } from './stream-observer.ts'
import { readStart } from './stream-start.ts'
import { answerNotes } from './translate/dropped-fields.ts'
import { errorInAnswer, streamDecoder } from './translate/table.ts'
import type { AnswerSource, Translation } from './translate/translation.ts'

export function makeReply(context: ReplyContext, upstream: UpstreamResponse): HttpResponse | Promise<HttpResponse> {
  const { translation } = context.call.conversion
  if (upstream.status < 400 && isEventStream(context, upstream.headers)) return streamReply(context, upstream)
  if (translation !== undefined) return translatedReply(context, translation, upstream)
  const check = upstream.status < 400 ? answerCheck(context) : undefined
  return check === undefined ? observedReply(context, upstream) : checkedReply(context, check, upstream)
}

function isEventStream({ call }: ReplyContext, headers: HeaderList): boolean {
  return FRAMES[call.conversion.sent.frames].contentType.test(headers.get('content-type') ?? '')
}

const STREAM_TYPES: { readonly [F in ClientFraming]: string } = {
  Sse: 'text/event-stream',
  JsonArray: 'application/json',
}

function sourceOf({ call, exchange, facts }: ReplyContext, headers: HeaderList): AnswerSource {
  const { idHeader } = call.conversion.sent
  return {
    id: idHeader && headers.get(idHeader),
    model: call.model,
    names: call.toolNames,
    notes: answerNotes(exchange, facts),
    asked: call.asked,
    inputTokens: inputTokensIn(call.conversion.sent, headers),
  }
}

function inputTokensIn({ inputTokensHeader }: SentFormat, headers: HeaderList): number | undefined {
  const value = inputTokensHeader && headers.get(inputTokensHeader)
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Streams are sent decoded (data-plane supplement section 3.9). */
function streamReply(context: ReplyContext, upstream: UpstreamResponse): HttpResponse | Promise<HttpResponse> {
  context.facts.isStreaming = true
  try {
    const decoded = decodeStream(upstream.body, upstream.headers.get('content-encoding'))
    const decoder = context.hasNext?.() === true ? streamDecoder(context.call.conversion.sent.name) : undefined
    return decoder === undefined
      ? streamFrom(context, upstream, decoded)
      : startedReply(context, upstream, { decoded, decoder })
  } catch (error) {
    if (!(error instanceof UnknownEncoding)) throw error
    upstream.body.cancel()
    return invalid(context, error.message)
  }
}

function streamFrom(
  context: ReplyContext,
  { status, headers }: UpstreamResponse,
  decoded: Cancellable<Buffer>,
): HttpResponse {
  const sent = ownHeaders(context, headers, STREAM_TYPES[context.call.framing])
  return new HttpResponse(status, sent, streamOf(context, headers, decoded), false)
}

function streamOf(context: ReplyContext, headers: HeaderList, decoded: Cancellable<Buffer>): Cancellable<Buffer> {
  const { conversion, framing } = context.call
  const { translation } = conversion
  const body =
    translation === undefined
      ? passThroughStream(context, decoded)
      : translatedStream(context, translation, decoded, sourceOf(context, headers))
  const checked = checkedStream(context, body, headers)
  const read = context.texts?.stream(checked) ?? checked
  return framing === 'Sse' ? read : jsonArrayStream(context, read)
}

/** A stream that starts with an error is an answer with the status of that error, for the next provider. */
async function startedReply(
  context: ReplyContext,
  upstream: UpstreamResponse,
  { decoded, decoder }: { readonly decoded: Cancellable<Buffer>; readonly decoder: StreamDecoder },
): Promise<HttpResponse> {
  const { client, sent } = context.call.conversion
  const frames = FRAMES[sent.frames].reader(context.translationBytesMax)
  const start = await collected(context, readStart(decoded, { frames, decoder }))
  if (start instanceof HttpResponse) {
    decoded.cancel()
    return start
  }
  const { error, body } = start
  if (error === undefined) return streamFrom(context, upstream, body)
  const status = statusOfKind(error.kind)
  if (!isFailedStatus(status)) return streamFrom(context, upstream, body)
  body.cancel()
  const details = `the stream of the provider starts with an error: ${error.kind}`
  context.exchange.trace?.write({ type: 'policyEvent', kind: 'failover', details })
  return jsonReply(context, { ...upstream, status }, client.error(error, status))
}

/** The response with the masks of guards; one over the limit is not sent. */
async function checkedReply(
  context: ReplyContext,
  check: AnswerCheck,
  upstream: UpstreamResponse,
): Promise<HttpResponse> {
  const { headers, status } = upstream
  const bytes = await decodedBody(context, upstream)
  if (bytes instanceof HttpResponse) return bytes
  const text = bytes.toString('utf8')
  const json = readJsonText(text)
  if (json === undefined) return invalidJson(context, text)
  context.call.conversion.sent.observe(context.facts, json.members)
  const members = await checkAnswer(context, json.members, check, headers)
  if (members instanceof HttpResponse) return members
  context.texts?.answer(members)
  const body = members === json.members ? bytes : textBody(editedText({ ...json, members }))
  return new HttpResponse(status, ownHeaders(context, headers, undefined), body, false)
}

/** The response unchanged. One over the limit is not read. */
function observedReply(context: ReplyContext, upstream: UpstreamResponse): HttpResponse | Promise<HttpResponse> {
  const { bodyBytesMax } = context
  const raw = arrivedOrLater(context, upstream, bodyBytesMax)
  if (raw instanceof Promise) return raw.then((late) => observedBytes(context, upstream, late))
  return observedBytes(context, upstream, raw)
}

function observedBytes(
  context: ReplyContext,
  { status, headers, body }: UpstreamResponse,
  raw: Buffer | string | HttpResponse | undefined,
): HttpResponse | Promise<HttpResponse> {
  const { bodyBytesMax } = context
  if (raw instanceof HttpResponse) return raw
  if (raw === undefined) {
    reportUnobserved(context, `it is larger than ${bodyBytesMax} bytes`)
    return new HttpResponse(status, headers, body, false)
  }
  // Encoded bytes are not text.
  if (typeof raw === 'string' || isIdentity(headers.get('content-encoding')))
    return observed(context, { status, headers }, raw)
  return collected(context, decodedOrNot(raw, headers, bodyBytesMax)).then((bytes) => {
    if (bytes instanceof HttpResponse) return bytes
    if (bytes !== undefined) return observed(context, { status, headers }, bytes)
    reportUnobserved(context, `it is larger than ${bodyBytesMax} bytes when decoded`)
    return new HttpResponse(status, headers, raw, false)
  })
}

function observed(
  context: ReplyContext,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
  bytes: Buffer | string,
): HttpResponse {
  if (status < 400) {
    const json = answerOf(context, bytes, parseObject)
    if (json instanceof HttpResponse) return json
    context.call.conversion.sent.observe(context.facts, json)
    context.texts?.answer(json)
  }
  const sent = ownHeaders(context, headers, undefined)
  const retryAfter = missingRetryAfter({ status, headers })
  if (retryAfter !== undefined) sent.set('retry-after', retryAfter)
  return new HttpResponse(status, sent, bytes, false)
}

/** undefined: too large. */
async function decodedOrNot(raw: Buffer, headers: HeaderList, bytesMax: number): Promise<Buffer | undefined> {
  try {
    return await decode(raw, headers.get('content-encoding'), bytesMax)
  } catch (error) {
    if (error instanceof DecodedTooLarge) return undefined
    throw error
  }
}

function translatedReply(
  context: ReplyContext,
  translation: Translation,
  upstream: UpstreamResponse,
): HttpResponse | Promise<HttpResponse> {
  const bytes = decodedBody(context, upstream)
  const reply = (whole: Buffer | string | HttpResponse): HttpResponse | Promise<HttpResponse> =>
    whole instanceof HttpResponse ? whole : translatedBytes(context, { translation, upstream }, whole)
  return bytes instanceof Promise ? bytes.then(reply) : reply(bytes)
}

interface TranslatedAnswer {
  readonly translation: Translation
  readonly upstream: UpstreamResponse
}

function translatedBytes(
  context: ReplyContext,
  { translation, upstream }: TranslatedAnswer,
  bytes: Buffer | string,
): HttpResponse | Promise<HttpResponse> {
  const { headers, status } = upstream
  if (status >= 400) return translatedError(context, translation, upstream, bytes)
  const json = answerOf(context, bytes, parseExactObject)
  if (json instanceof HttpResponse) return json
  const createdSeconds = Math.trunc(Date.now() / 1000)
  const source = sourceOf(context, headers)
  const translated = translation.answer(json, createdSeconds, source)
  if (translated === undefined) return failedAnswer(context, upstream, json)
  const { call, facts } = context
  call.conversion.sent.observe(facts, json)
  observeInput(facts, source.inputTokens)
  if (call.isStreaming) {
    const options = { createdSeconds, includeUsage: call.includeUsage, source }
    return wholeStream(context, upstream, translation.answerAsStream(json, options))
  }
  const check = answerCheck(context)
  return check === undefined
    ? translatedJson(context, upstream, translated)
    : checkAnswer(context, translated, check, headers).then((checked) => translatedJson(context, upstream, checked))
}

const BAD_GATEWAY = 502

/** Providers in front of others report their errors with status 200. */
function failedAnswer(context: ReplyContext, upstream: UpstreamResponse, json: JsonObject): HttpResponse {
  const { client, sent } = context.call.conversion
  const error = errorInAnswer(sent.name, json)
  if (error === undefined) {
    return invalid(context, 'the provider returned JSON that is not a valid response in its format')
  }
  const status = error.kind === 'api' ? BAD_GATEWAY : statusOfKind(error.kind)
  return jsonReply(context, { ...upstream, status }, client.error(error, status))
}

/** `answer`: a response, if a guard rejected it. */
function translatedJson(
  context: ReplyContext,
  upstream: UpstreamResponse,
  answer: JsonObject | HttpResponse,
): HttpResponse {
  if (answer instanceof HttpResponse) return answer
  context.texts?.answer(answer)
  return jsonReply(context, upstream, answer)
}

/** The events of an answer that was not a stream. */
async function wholeStream(
  context: ReplyContext,
  { status, headers }: UpstreamResponse,
  unchecked: string,
): Promise<HttpResponse> {
  const { framing } = context.call
  const events = await checkedEvents(context, unchecked, headers)
  if (events instanceof HttpResponse) return events
  context.texts?.events(events)
  const chunks = framing === 'Sse' ? events : arrayOfEvents(context, events)
  return new HttpResponse(status, ownHeaders(context, headers, STREAM_TYPES[framing]), textBody(chunks), false)
}

/** The whole body, or the failure for the client. */
function decodedBody(
  context: ReplyContext,
  upstream: UpstreamResponse,
): Buffer | string | Promise<Buffer | string | HttpResponse> {
  const raw = arrivedOrLater(context, upstream, context.translationBytesMax)
  return raw instanceof Promise ? raw.then((late) => decodedBytes(context, upstream, late)) : raw
}

function decodedBytes(
  context: ReplyContext,
  { body, headers }: UpstreamResponse,
  raw: Buffer | HttpResponse | undefined,
): Buffer | HttpResponse | Promise<Buffer | HttpResponse> {
  const { translationBytesMax } = context
  if (raw instanceof HttpResponse) return raw
  if (raw === undefined) {
    body.cancel()
    return invalid(context, `the response is larger than ${translationBytesMax} bytes, the limit for translation`)
  }
  const encoding = headers.get('content-encoding')
  return isIdentity(encoding) ? raw : collected(context, decode(raw, encoding, translationBytesMax))
}

/** Errors keep their status; a body that is not an error of the provider's format is a bad gateway. */
function translatedError(
  context: ReplyContext,
  translation: Translation,
  upstream: UpstreamResponse,
  bytes: Buffer | string,
): HttpResponse {
  const json = errorIn(bytes.toString('utf8'))
  const error = json === undefined ? undefined : translation.error(json, upstream.status)
  const retryAfter = upstream.headers.get('retry-after') ?? missingRetryAfter(upstream, json)
  const reply =
    error === undefined
      ? invalid(
          context,
          `the provider returned status ${upstream.status} with a body that is not a valid error in its format`,
        )
      : jsonReply(context, upstream, error)
  if (retryAfter !== undefined) reply.headers.set('retry-after', retryAfter)
  return reply
}

/** Google sends the errors of some endpoints as a list. */
function errorIn(text: string): JsonObject | undefined {
  const json = parseJson(text)
  const first: unknown = Array.isArray(json) ? json[0] : json
  return isRecord(first) ? first : undefined
}

function answerOf(context: ReplyContext, bytes: Buffer | string, parse: typeof parseObject): JsonObject | HttpResponse {
  const text = bytes.toString('utf8')
  return parse(text) ?? invalidJson(context, text)
}

function invalidJson(context: ReplyContext, text: string): HttpResponse {
  return invalid(context, jsonExcess(text) ?? 'the provider returned a body that is not a JSON object')
}

/** The whole body, or the failure for the client; undefined: it is larger than the limit. */
function arrivedOrLater(
  context: ReplyContext,
  { body, headers }: Pick<UpstreamResponse, 'body' | 'headers'>,
  bytesMax: number,
): Buffer | string | Promise<Buffer | HttpResponse | undefined> {
  return arrivedText(body, headers, Math.min(bytesMax, TEXT_BYTES_MAX)) ?? collected(context, body.tryCollect(bytesMax))
}

/** undefined: it has not arrived, is long, or is encoded, and can still be read. */
function arrivedText(body: StreamBody, headers: HeaderList, bytesMax: number): Buffer | string | undefined {
  return isIdentity(headers.get('content-encoding')) ? arrivedBody(body, bytesMax) : undefined
}

/** The parsed body, or the failure for the client. */
async function collected<T>(context: ReplyContext, reading: Promise<T>): Promise<T | HttpResponse> {
  try {
    return await reading
  } catch (error) {
    return invalid(context, `the response could not be read: ${messageOf(error)}`)
  }
}

function invalid({ exchange }: ReplyContext, detail: string): HttpResponse {
  return exchange.failVisibly('llmResponseInvalid', detail)
}

function jsonReply(context: ReplyContext, upstream: UpstreamResponse, json: JsonObject): HttpResponse {
  const headers = ownHeaders(context, upstream.headers, 'application/json')
  return new HttpResponse(upstream.status, headers, textBody(JSON.stringify(json)), false)
}

/** The body was decoded or rewritten: its framing and coding fields are no longer valid. */
function ownHeaders({ answerHeaders }: ReplyContext, from: HeaderList, contentType: string | undefined): HeaderList {
  return answerHeaders.of(contentType).of(from, (headers) => {
    for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.remove(name)
    if (contentType !== undefined) headers.set('content-type', contentType)
  })
}
