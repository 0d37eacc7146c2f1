// GenerateContent of Google. The model and whether the answer is a stream are in the path.
import type { PromptMessage } from '#api/ir/types.gen.ts'
import { isRecord } from '#api/json.ts'
import type { LlmParams } from '../../../exchange/facts.ts'
import { sseData } from '../../../http/sse.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { paramsOf } from '../../params.ts'
import { addReport } from '../../usage.ts'
import { streamError } from '../../canonical/answer-writer.ts'
import type { Format } from '../format.ts'
import { encodeError, encodeFailure } from './error.ts'
import { BASE_PATH, leaveGoogle } from './client-headers.ts'
import { generateMethod, modelPath } from './model-path.ts'
import { fieldsOf, listOf } from './names.ts'
import { generateUrl } from './url.ts'
import { readUsage } from './usage.ts'

export const generateContent: Format = {
  transport: 'Message',
  operation: 'chat',
  url: generateUrl,
  modelPath: { base: BASE_PATH, pathOf: (model, isStreaming) => modelPath(model, generateMethod(isStreaming)) },
  name: 'GenerateContent',
  frames: 'Sse',
  idHeader: undefined,
  path: ':generateContent',
  /** Each event of a stream has the usage so far. */
  askForUsage() {},
  observe(facts, answer) {
    facts.responseModel = asString(answer['modelVersion']) ?? facts.responseModel
    if (isRecord(answer['usageMetadata'])) addReport(facts, readUsage(answer['usageMetadata']))
  },
  recognises: ({ candidates, usageMetadata, promptFeedback }) =>
    Array.isArray(candidates) || isRecord(usageMetadata) || isRecord(promptFeedback),
  hasContent: (event) =>
    asArray(asObject(asObject(asArray(event['candidates'])[0])['content'])['parts']).some((part) => {
      const { text, functionCall } = asObject(part)
      return (asString(text) ?? '') !== '' || isRecord(functionCall)
    }),
  lastEvent: /"finishReason"|"blockReason"/,
  leave: leaveGoogle,
  enrich,
  params,
  wantsUsage: () => false,
  failure: encodeFailure,
  error: encodeError,
  errorEvent: (message) => sseData(encodeError(streamError(message), undefined)),
}

/** There is no system role: such texts are in the `systemInstruction` field. */
function enrich(request: JsonObject, prepend: readonly PromptMessage[], append: readonly PromptMessage[]): void {
  const isSystem = ({ role }: PromptMessage): boolean => role === 'system'
  const texts = (messages: readonly PromptMessage[]) => messages.filter(isSystem).map(({ content: text }) => ({ text }))
  const contents = (messages: readonly PromptMessage[]) =>
    messages.filter((one) => !isSystem(one)).map(({ role, content }) => contentOf(role, content))
  const [before, after] = [texts(prepend), texts(append)]
  if (before.length + after.length > 0) {
    const name = Object.hasOwn(request, 'system_instruction') ? 'system_instruction' : 'systemInstruction'
    const system = request[name]
    const own = typeof system === 'string' ? [{ text: system }] : listOf(asObject(system)['parts'])
    request[name] = { ...asObject(system), parts: [...before, ...own, ...after] }
  }
  request['contents'] = [...contents(prepend), ...listOf(request['contents']), ...contents(append)]
}

function contentOf(role: string, text: string): JsonObject {
  return { role: role === 'assistant' ? 'model' : 'user', parts: [{ text }] }
}

function params(request: JsonObject): LlmParams | undefined {
  const config = fieldsOf(fieldsOf(request)['generationConfig'])
  return paramsOf({
    temperature: config['temperature'],
    top_p: config['topP'],
    frequency_penalty: config['frequencyPenalty'],
    presence_penalty: config['presencePenalty'],
    seed: config['seed'],
    max_tokens: config['maxOutputTokens'],
  })
}
