// Answers of GenerateContent. A stream is a list of partial answers, so both have one reader.
import { createHash, randomUUID } from 'node:crypto'
import { isRecord } from '#api/json.ts'
import type { SseEvent } from '../../../http/sse.ts'
import { AnswerWriter } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, AnswerImage, FinishReason, TokenLogprob } from '../../canonical/answer.ts'
import type { StreamDecoder } from '../../canonical/format.ts'
import type { Citation } from '../../canonical/request.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { normalType } from '../media.ts'
import { decodeError } from './error.ts'
import { decodeLogprobs } from './logprobs.ts'
import { CitedText } from './ranges.ts'
import { signatureFor, type Signed } from './signature.ts'
import { decodeUsage } from './usage.ts'

/** Data-plane supplement section 3.9. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'contentFilter'],
  ['RECITATION', 'contentFilter'],
  ['BLOCKLIST', 'contentFilter'],
  ['PROHIBITED_CONTENT', 'contentFilter'],
  ['SPII', 'contentFilter'],
  ['IMAGE_SAFETY', 'contentFilter'],
  ['IMAGE_PROHIBITED_CONTENT', 'contentFilter'],
  ['IMAGE_RECITATION', 'contentFilter'],
  ['CONTINUATION', 'pause'],
])

type Kind = 'text' | 'reasoning'

class AnswerReader {
  readonly #writer = new AnswerWriter()
  #current: { readonly kind: Kind; readonly part: number } | undefined
  #reason: FinishReason | undefined
  #calls = 0
  /** The text of the current part. */
  #cited = new CitedText()
  /** Of the candidate that is read; its first text gets them. */
  #logprobs: readonly TokenLogprob[] = []
  #id = ''

  get isDone(): boolean {
    return this.#writer.isDone
  }

  read(json: JsonObject): void {
    const error = decodeError(json, undefined)
    if (error !== undefined) {
      this.#writer.fail(error)
      return
    }
    this.#id = asString(json['responseId']) ?? this.#id
    this.#writer.start(this.#id, asString(json['modelVersion']) ?? '')
    const candidate = asObject(asArray(json['candidates'])[0])
    this.#logprobs = decodeLogprobs(candidate)
    for (const part of asArray(asObject(candidate['content'])['parts'])) this.#part(asObject(part))
    this.#citations(candidate)
    this.#readReason(json, candidate)
    const { usageMetadata: usage } = json
    if (isRecord(usage)) this.#writer.usage(decodeUsage(usage))
  }

  /** An answer with a reason for its end is complete. */
  finish(): void {
    if (this.#reason !== undefined) this.#writer.finish(this.#reason)
    else this.#writer.failEarly()
  }

  /** Of one event of a stream. */
  readEvent(data: string): void {
    const json = this.#writer.json(data)
    if (json !== undefined) this.read(json)
  }

  take(): readonly AnswerEvent[] {
    return this.#writer.take()
  }

  #part(part: JsonObject): void {
    const { text, functionCall, thoughtSignature } = part
    const image = part['thought'] === true ? undefined : imageIn(asObject(part['inlineData']))
    const signature = asString(thoughtSignature) ?? ''
    if (isRecord(functionCall)) this.#call(functionCall, signature)
    else if (image !== undefined) this.#image(image, signature)
    else if (typeof text === 'string') this.#text(text, part['thought'] === true, signature)
    else {
      this.#close()
      this.#writer.close(this.#writer.open({ kind: 'opaque', format: 'GenerateContent', value: part }))
    }
  }

  #text(text: string, isThought: boolean, signature: string): void {
    if (text !== '' && isThought) this.#writer.text(this.#partOf('reasoning'), text)
    else if (text !== '') {
      this.#writer.text(this.#partOf('text'), text, this.#logprobs)
      this.#cited.append(text)
      this.#logprobs = []
    }
    if (signature !== '') this.#sign({ kind: isThought ? 'thought' : 'text' }, signature)
  }

  #call(call: JsonObject, signature: string): void {
    const [given, name] = [asString(call['id']) ?? '', asString(call['name']) ?? '']
    // Older models give no ids; a client needs one that is unique in the conversation.
    const id = given === '' ? `call_${callScope(this.#id)}_${this.#calls}` : given
    this.#calls++
    if (signature !== '') this.#sign({ kind: 'call', id }, signature)
    this.#close()
    this.#writer.close(this.#writer.open({ kind: 'toolCall', id, name }, JSON.stringify(call['args'] ?? {})))
  }

  #image(image: AnswerImage, signature: string): void {
    if (signature !== '') this.#sign({ kind: 'image' }, signature)
    this.#close()
    this.#writer.close(this.#writer.open({ kind: 'image', ...image }))
  }

  /** On the thoughts that stand in front; else on reasoning without a text. */
  #sign(signed: Signed, signature: string): void {
    this.#writer.signature(this.#partOf('reasoning'), signatureFor(signed, signature))
    this.#close()
  }

  #partOf(kind: Kind): number {
    if (this.#current?.kind === kind) return this.#current.part
    this.#close()
    const part = this.#writer.open(kind === 'reasoning' ? { kind, isSummary: true } : { kind })
    this.#current = { kind, part }
    this.#cited = new CitedText()
    return part
  }

  #close(): void {
    if (this.#current !== undefined) this.#writer.close(this.#current.part)
    this.#current = undefined
  }

  #citations(candidate: JsonObject): void {
    if (this.#current?.kind !== 'text') return
    for (const citation of citationsOf(candidate, this.#cited)) this.#writer.citation(this.#current.part, citation)
  }

  #readReason(json: JsonObject, candidate: JsonObject): void {
    const reason = asString(candidate['finishReason']) ?? UNSPECIFIED
    if (reason !== UNSPECIFIED) this.#reason = REASONS.get(reason) ?? (this.#calls > 0 ? 'toolCalls' : 'stop')
    // A prompt that is blocked has no candidates.
    else if (asString(asObject(json['promptFeedback'])['blockReason']) !== undefined) this.#reason = 'contentFilter'
  }
}

function imageIn({ mimeType, data }: JsonObject): AnswerImage | undefined {
  const mediaType = normalType(asString(mimeType) ?? '')
  return typeof data === 'string' && mediaType.startsWith('image/') ? { mediaType, data } : undefined
}

const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED'

/** Of one piece of an answer; further ones cover the whole text. */
const RANGES_MAX = 1000

/** Those of a model that repeats a source, and of a search, whose supports name ranges of the text. */
function citationsOf(candidate: JsonObject, text: CitedText): readonly Citation[] {
  let left = RANGES_MAX
  const cited = ({ uri, title }: JsonObject, { startIndex, endIndex }: JsonObject): readonly Citation[] => {
    const url = asString(uri)
    if (url === undefined) return []
    // The format leaves out zeros.
    const end = asNumber(endIndex)
    const range = end === undefined || --left < 0 ? undefined : text.unitsOf(asNumber(startIndex) ?? 0, end)
    const { start, end: until } = range ?? { start: undefined, end: undefined }
    return [{ url, title: asString(title), quote: undefined, start, end: until, original: undefined }]
  }
  const repeated = asArray(asObject(candidate['citationMetadata'])['citations']).map(asObject)
  return [...repeated.flatMap((source) => cited(source, source)), ...foundIn(candidate).flatMap((one) => cited(...one))]
}

/** Results of a search with their segments: one for each place that names them, or one without a range. */
function foundIn(candidate: JsonObject): readonly (readonly [source: JsonObject, segment: JsonObject])[] {
  const { groundingChunks, groundingSupports } = asObject(candidate['groundingMetadata'])
  const segments = new Map<unknown, JsonObject[]>()
  let left = RANGES_MAX
  for (const support of asArray(groundingSupports).map(asObject)) {
    for (const index of asArray(support['groundingChunkIndices'])) {
      if (--left < 0) break
      const known = segments.get(index) ?? []
      segments.set(index, known)
      known.push(asObject(support['segment']))
    }
  }
  return asArray(groundingChunks).flatMap((chunk, index) => {
    const source = asObject(asObject(chunk)['web'])
    return (segments.get(index) ?? [{}]).map((segment) => [source, segment] as const)
  })
}

/** undefined: not an answer in this format. */
export function decodeAnswer(body: JsonObject): readonly AnswerEvent[] | undefined {
  if (!Array.isArray(body['candidates']) && !isRecord(body['promptFeedback'])) return undefined
  const reader = new AnswerReader()
  reader.read(body)
  reader.finish()
  return reader.take()
}

export class GeminiDecoder implements StreamDecoder {
  readonly #reader = new AnswerReader()

  event({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.#reader.isDone) return []
    this.#reader.readEvent(data)
    return this.#reader.take()
  }

  end(): readonly AnswerEvent[] {
    this.#reader.finish()
    return this.#reader.take()
  }
}

/** Chat completions of OpenAI, which may answer later in the conversation, accept ids of calls of 40 characters. */
const SCOPE_CHARS_MAX = 24

/** In ids of calls; unique in the conversation. `id`: of the answer, or empty. */
function callScope(id: string): string {
  if (id !== '' && id.length <= SCOPE_CHARS_MAX) return id
  const text = id === '' ? randomUUID() : id
  return createHash('sha256').update(text).digest('hex').slice(0, SCOPE_CHARS_MAX)
}
