// The Realtime API of OpenAI: a WebSocket, on which the model answers many times.
import type { LlmFacts, LlmTokenKinds } from '../../exchange/facts.ts'
import { asCount, asObject, asString } from '../json.ts'
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const realtime: Format = {
  ...OPENAI,
  name: 'Realtime',
  path: '/realtime',
  transport: 'Socket',
  /** Its events are messages of a socket, never a response. */
  recognises: () => false,
  /** Adds the usage of each answer. */
  observe(facts, event) {
    facts.responseModel = asString(asObject(event['session'])['model']) ?? facts.responseModel
    if (event['type'] !== 'response.done') return
    const usage = asObject(asObject(event['response'])['usage'])
    const input = asObject(usage['input_token_details'])
    const output = asObject(usage['output_token_details'])
    facts.inputTokens = sum(facts.inputTokens, usage['input_tokens'])
    facts.outputTokens = sum(facts.outputTokens, usage['output_tokens'])
    facts.cachedInputTokens = sum(facts.cachedInputTokens, input['cached_tokens'])
    facts.totalTokens = sum(facts.totalTokens, usage['total_tokens'])
    facts.providerInputTokens = facts.inputTokens
    facts.providerTotalTokens = facts.totalTokens
    facts.kinds = kindsOf(facts, input, output)
  },
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
