// The Realtime API of OpenAI: a WebSocket, on which the model answers many times.
import type { LlmFacts, LlmTokenKinds, LlmTranscription } from '../../exchange/facts.ts'
import { asCount, asObject, asString, type JsonObject } from '../json.ts'
import { emptyFacts } from '../usage.ts'
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const realtime: Format = {
  ...OPENAI,
  name: 'Realtime',
  path: '/realtime',
  transport: 'Socket',
  /** Its events are messages of a socket, never a response. */
  recognises: () => false,
  /** Adds the usage of each answer and of each transcription. */
  observe(facts, event) {
    const session = asObject(event['session'])
    facts.responseModel = asString(session['model']) ?? facts.responseModel
    const transcriber = transcriberOf(session)
    if (transcriber !== undefined) transcriptionOf(facts).facts.requestModel = transcriber
    if (event['type'] === 'response.done') addUsage(facts, asObject(asObject(event['response'])['usage']))
    else if (event['type'] === TRANSCRIBED) addTranscription(facts, asObject(event['usage']))
  },
}

const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed'

/** The model of transcriptions: of the current API, or of its beta. */
function transcriberOf(session: JsonObject): string | undefined {
  const current = asObject(asObject(asObject(session['audio'])['input'])['transcription'])
  return asString(current['model']) ?? asString(asObject(session['input_audio_transcription'])['model'])
}

function transcriptionOf(facts: LlmFacts): LlmTranscription {
  facts.transcription ??= {
    facts: { ...emptyFacts(facts.provider), isStreaming: true, ...(facts.pricing && { pricing: facts.pricing }) },
    seconds: undefined,
  }
  return facts.transcription
}

/** `usage`: tokens, or the seconds of a model that bills time. */
function addTranscription(facts: LlmFacts, usage: JsonObject): void {
  const transcription = transcriptionOf(facts)
  const { seconds } = usage
  if (typeof seconds === 'number' && seconds > 0) transcription.seconds = (transcription.seconds ?? 0) + seconds
  else addUsage(transcription.facts, usage)
}

function addUsage(facts: LlmFacts, usage: JsonObject): void {
  const input = asObject(usage['input_token_details'])
  const output = asObject(usage['output_token_details'])
  facts.inputTokens = sum(facts.inputTokens, usage['input_tokens'])
  facts.outputTokens = sum(facts.outputTokens, usage['output_tokens'])
  facts.cachedInputTokens = sum(facts.cachedInputTokens, input['cached_tokens'])
  facts.totalTokens = sum(facts.totalTokens, usage['total_tokens'])
  facts.providerInputTokens = facts.inputTokens
  facts.providerTotalTokens = facts.totalTokens
  facts.kinds = kindsOf(facts, input, output)
}

function kindsOf({ kinds }: LlmFacts, input: Record<string, unknown>, output: Record<string, unknown>): LlmTokenKinds {
  return {
    inputText: sum(kinds?.inputText, input['text_tokens']),
    inputImage: sum(kinds?.inputImage, input['image_tokens']),
    inputAudio: sum(kinds?.inputAudio, input['audio_tokens']),
    outputText: sum(kinds?.outputText, output['text_tokens']),
    outputImage: sum(kinds?.outputImage, output['image_tokens']),
    outputAudio: sum(kinds?.outputAudio, output['audio_tokens']),
  }
}

/** An unknown count changes nothing. */
function sum(known: number | undefined, added: unknown): number | undefined {
  const count = asCount(added)
  return count === undefined ? known : (known ?? 0) + count
}
