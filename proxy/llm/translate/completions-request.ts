// Chat-completions request to messages request (data-plane supplement section 3.9). Keeps what maps, refuses what would
// change the meaning of the answer.
import { isRecord } from '#api/json.ts'
import { asArray, asNumber, asObject, asString, parseExactObject, type JsonObject } from '../json.ts'

/** A request that cannot be said in the other format; the text is for the client. */
export class Untranslatable extends Error {}

const MAX_TOKENS_DEFAULT = 4096
const THINKING_BUDGET_MIN = 1024
const THINKING_BUDGET: ReadonlyMap<string, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 2048],
  ['high', 4096],
  ['xhigh', 8192],
  ['max', 16_384],
])

/** @throws {Untranslatable} */
export function completionsToMessages(body: JsonObject): JsonObject {
  if ((asNumber(body['n']) ?? 1) !== 1) throw new Untranslatable('n other than 1 is not supported by this provider')
  const maxTokens = asNumber(body['max_completion_tokens']) ?? asNumber(body['max_tokens']) ?? MAX_TOKENS_DEFAULT
  const { system, messages } = convertMessages(asArray(body['messages']))
  const out: JsonObject = { model: body['model'], max_tokens: maxTokens, messages }
  if (system !== '') out['system'] = system
  const thinking = thinkingOf(body, maxTokens)
  if (thinking !== undefined) out['thinking'] = thinking
  // Sampling parameters are refused beside thinking.
  else copyNumbers(body, out, ['temperature', 'top_p'])
  if (body['stream'] === true) out['stream'] = true
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : asArray(body['stop'])
  if (stop.length > 0) out['stop_sequences'] = stop
  convertTools(body, out)
  const user = asString(body['user'])
  if (user !== undefined) out['metadata'] = { user_id: user }
  return out
}

function copyNumbers(from: JsonObject, to: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    const value = asNumber(from[name])
    if (value !== undefined) to[name] = value
  }
}

function thinkingOf(body: JsonObject, maxTokens: number): JsonObject | undefined {
  const explicit = asNumber(body['thinking_budget_tokens'])
  const budget = explicit ?? THINKING_BUDGET.get(asString(body['reasoning_effort']) ?? '')
  if (budget === undefined || budget < THINKING_BUDGET_MIN || budget >= maxTokens) return undefined
  return { type: 'enabled', budget_tokens: budget }
}

function convertMessages(list: readonly unknown[]): { system: string; messages: JsonObject[] } {
  const system: string[] = []
  const messages: { role: string; content: unknown[] }[] = []
  for (const [index, item] of list.entries()) {
    const message = asObject(item)
    const role = asString(message['role'])
    if (role === 'system' || role === 'developer') {
      system.push(textOf(message['content'], index))
      continue
    }
    const converted = convertMessage(message, role, index)
    const last = messages.at(-1)
    // Results of parallel tool calls must come in one user message.
    if (last !== undefined && last.role === converted.role) last.content.push(...converted.content)
    else messages.push(converted)
  }
  return { system: system.filter((text) => text !== '').join('\n'), messages }
}

function convertMessage(
  message: JsonObject,
  role: string | undefined,
  index: number,
): { role: string; content: unknown[] } {
  if (role === 'user') return { role, content: convertContent(message['content'], index) }
  if (role === 'assistant') {
    const content =
      message['content'] === null || message['content'] === undefined ? [] : convertContent(message['content'], index)
    return { role, content: [...content, ...asArray(message['tool_calls']).map((call) => toolUse(call, index))] }
  }
  if (role === 'tool') {
    const id = asString(message['tool_call_id'])
    if (id === undefined) throw new Untranslatable(`messages[${index}].tool_call_id is missing`)
    const text = textOf(message['content'], index)
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] }
  }
  throw new Untranslatable(`messages[${index}].role must be system, developer, user, assistant or tool`)
}

function convertContent(content: unknown, index: number): unknown[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content))
    throw new Untranslatable(`messages[${index}].content must be a string or a list of parts`)
  return content.map((item: unknown, at) => convertPart(asObject(item), `messages[${index}].content[${at}]`))
}

function convertPart(part: JsonObject, path: string): JsonObject {
  if (part['type'] === 'text') return { type: 'text', text: asString(part['text']) ?? '' }
  if (part['type'] === 'refusal') return { type: 'text', text: asString(part['refusal']) ?? '' }
  if (part['type'] === 'image_url') {
    const url = asString(asObject(part['image_url'])['url'])
    if (url === undefined) throw new Untranslatable(`${path}.image_url.url is missing`)
    const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
    if (inline === null) return { type: 'image', source: { type: 'url', url } }
    return { type: 'image', source: { type: 'base64', media_type: inline[1], data: inline[2] } }
  }
  throw new Untranslatable(`${path}.type ${JSON.stringify(part['type'])} is not supported by this provider`)
}

function textOf(content: unknown, index: number): string {
  if (typeof content === 'string') return content
  return convertContent(content, index)
    .map((part) => asString(asObject(part)['text']) ?? '')
    .join('')
}

function toolUse(call: unknown, index: number): JsonObject {
  const fn = asObject(asObject(call)['function'])
  const text = asString(fn['arguments']) ?? ''
  const input = text.trim() === '' ? {} : parseExactObject(text)
  if (input === undefined) throw new Untranslatable(`messages[${index}].tool_calls: arguments are not a JSON object`)
  return { type: 'tool_use', id: asString(asObject(call)['id']) ?? '', name: asString(fn['name']) ?? '', input }
}

function convertTools(body: JsonObject, out: JsonObject): void {
  const tools = asArray(body['tools']).map((tool) => asObject(asObject(tool)['function']))
  if (tools.length === 0) return
  out['tools'] = tools.map((fn) => ({
    name: fn['name'],
    ...(fn['description'] === undefined ? {} : { description: fn['description'] }),
    input_schema: isRecord(fn['parameters']) ? fn['parameters'] : { type: 'object', properties: {} },
  }))
  const choice = toolChoice(body['tool_choice'])
  const isSerial = body['parallel_tool_calls'] === false
  if (choice === undefined && !isSerial) return
  const base = choice ?? { type: 'auto' }
  out['tool_choice'] = isSerial && base['type'] !== 'none' ? { ...base, disable_parallel_tool_use: true } : base
}

function toolChoice(choice: unknown): JsonObject | undefined {
  if (choice === 'auto' || choice === 'none') return { type: choice }
  if (choice === 'required') return { type: 'any' }
  const name = asString(asObject(asObject(choice)['function'])['name'])
  return name === undefined ? undefined : { type: 'tool', name }
}
