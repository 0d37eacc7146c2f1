// Route type Detect: model, usage and first token of requests that are forwarded unchanged, in any format that an
// answer shows. Reads copies of the bytes; what it cannot read is in log and trace, and never ends the request.
import { isRecord, parseJson } from '#api/json.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { SseEvent } from '../http/sse.ts'
import { BodyRecorder, recordBody } from '../log/recorded-body.ts'
import type { BodyObserver } from '../message/incoming-body.ts'
import { decodeAtOnce, isIdentity } from './encoding.ts'
import type { SentFormat } from './formats/format.ts'
import { SENT_FORMATS } from './formats/table.ts'
import { type FrameReader, FRAMES } from './frames.ts'
import { asString, parseObject, type JsonObject } from './json.ts'
import { boundaryOf, formField } from './model-request.ts'
import { paramsOf } from './params.ts'
import { observeEvent, reportUnobserved } from './stream-observer.ts'

/** Names in paths: `/models/gemini-3:generateContent`, `/model/anthropic.claude/converse`. */
const MODEL_IN_PATH = /\/models?\/([^/:?]{1,1024})(?:[:/]|$)/

/** Reads the model of the request when its body has been forwarded. */
export function detectRequest(exchange: Exchange, facts: LlmFacts, bytesMax: number): void {
  const { request } = exchange
  facts.requestModel = modelIn(request.path)
  const { headers } = request
  const boundary = boundaryOf(headers.get('content-type'))
  if (boundary === undefined && !isJson(headers.get('content-type'))) return
  const recorder = new BodyRecorder(bytesMax, ({ bytes, isTruncated }) => {
    if (boundary !== undefined) facts.requestModel = formField(bytes, boundary, 'model') ?? facts.requestModel
    else if (!isTruncated)
      readRequest(facts, textOf(exchange, bytes, { encoding: headers.get('content-encoding'), bytesMax }))
  })
  // The client's own body is only observed: it is not replaced.
  recordBody(request.body, recorder)
}

function readRequest(facts: LlmFacts, text: string | undefined): void {
  const json = parseObject(text ?? '')
  if (json === undefined) return
  facts.requestModel = asString(json['model']) ?? facts.requestModel
  facts.isStreaming = json['stream'] === true
  facts.params = paramsOf(json)
}

/** Reads the response while it is forwarded. Its status is that of the provider. */
export function detectAnswer(exchange: Exchange, facts: LlmFacts, bytesMax: number): void {
  const { response } = exchange
  if (response === undefined || response.isLocal || response.status >= 400) return
  const type = response.headers.get('content-type') ?? ''
  const encoding = response.headers.get('content-encoding')
  const frames = Object.values(FRAMES).find(({ contentType }) => contentType.test(type))
  if (frames === undefined && !isJson(type)) return
  facts.isStreaming = frames !== undefined
  const answer = new DetectedAnswer(exchange, facts)
  const observer =
    frames !== undefined && isIdentity(encoding)
      ? new FrameObserver(answer, frames.reader(bytesMax))
      : new BodyRecorder(bytesMax, ({ bytes, isTruncated }) => {
          if (isTruncated) reportUnobserved(answer, `it is larger than ${bytesMax} bytes`)
          else if (frames === undefined) answer.whole(textOf(exchange, bytes, { encoding, bytesMax }))
          else readFrames(answer, frames.reader(bytesMax), decoded(exchange, bytes, { encoding, bytesMax }))
        })
  response.body = recordBody(response.body, observer)
}

/** The facts of an answer whose format is the first one that recognises a part of it. */
class DetectedAnswer implements Pick<SentFormat, 'observe' | 'hasContent'> {
  readonly exchange: Exchange
  readonly facts: LlmFacts
  #format: SentFormat | undefined

  constructor(exchange: Exchange, facts: LlmFacts) {
    this.exchange = exchange
    this.facts = facts
  }

  /** Google sends a list of answers where a client asks for a stream without events. */
  whole(text: string | undefined): void {
    const json = parseJson(text ?? '')
    for (const answer of Array.isArray(json) ? json : [json]) if (isRecord(answer)) this.observe(this.facts, answer)
  }

  event({ data }: SseEvent): void {
    observeEvent(this, this, nativeData(data))
  }

  observe(facts: LlmFacts, answer: JsonObject): void {
    this.#format ??= formatOf(answer)
    if (this.#format === undefined) return
    facts.operation = this.#format.operation
    this.#format.observe(facts, answer)
  }

  hasContent(event: JsonObject): boolean {
    return this.#format?.hasContent(event) === true
  }
}

/** Other answers with usage, such as images, have that of OpenAI. */
function formatOf(answer: JsonObject): SentFormat | undefined {
  const found = Object.values(SENT_FORMATS).find((format) => format.recognises(answer))
  return found ?? (isRecord(answer['usage']) ? SENT_FORMATS.Completions : undefined)
}

/** An event of InvokeModelWithResponseStream of Amazon Bedrock contains one of the model's own format. */
function nativeData(data: string): string {
  if (!data.startsWith('{"bytes":')) return data
  const bytes = asString(parseObject(data)?.['bytes'])
  return bytes === undefined ? data : Buffer.from(bytes, 'base64').toString('utf8')
}

/** Ends the observation, not the stream, at an event that cannot be read. */
class FrameObserver implements BodyObserver {
  readonly #answer: DetectedAnswer
  #reader: FrameReader | undefined

  constructor(answer: DetectedAnswer, reader: FrameReader) {
    this.#answer = answer
    this.#reader = reader
  }

  seen(buffer: Buffer, start: number, end: number): void {
    if (this.#reader !== undefined && !readFrames(this.#answer, this.#reader, buffer.subarray(start, end))) {
      this.#reader = undefined
    }
  }

  over(): void {
    this.#reader = undefined
  }
}

/** False: the rest cannot be read. */
function readFrames(answer: DetectedAnswer, reader: FrameReader, bytes: Buffer | undefined): boolean {
  if (bytes === undefined) return false
  try {
    for (const event of reader.push(bytes)) answer.event(event)
    return true
  } catch (error) {
    reportUnobserved(answer, messageOf(error))
    return false
  }
}

interface Encoded {
  readonly encoding: string | undefined
  readonly bytesMax: number
}

/** undefined: reported. */
function decoded(exchange: Exchange, bytes: Buffer, { encoding, bytesMax }: Encoded): Buffer | undefined {
  try {
    return decodeAtOnce(bytes, encoding, bytesMax)
  } catch (error) {
    reportUnobserved({ exchange }, messageOf(error))
    return undefined
  }
}

function textOf(exchange: Exchange, bytes: Buffer, encoded: Encoded): string | undefined {
  return decoded(exchange, bytes, encoded)?.toString('utf8')
}

function modelIn(path: string): string | undefined {
  const name = MODEL_IN_PATH.exec(path)?.[1]
  if (name === undefined) return undefined
  try {
    return decodeURIComponent(name)
  } catch {
    // Not an encoded name: as the client sent it.
    return name
  }
}

function isJson(type: string | undefined): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(type ?? '')
}
