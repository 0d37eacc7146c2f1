// The policy promptCaching: adds cache points to a Converse request, beside those that the client marks (data-plane
// supplement section 3.9).
import type { PromptCaching } from '#api/ir/types.gen.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { traitsOf } from '../../traits/table.ts'
import { CACHE_POINTS_MAX, cachePoint } from './cache.ts'

const DEFAULTS = { cacheSystem: true, cacheMessages: true, cacheTools: false, minTokens: 1024, cacheMessageOffset: 0 }
/** Estimated. */
const TOKENS_PER_WORD = 1.3

/** Replaces members of `body`. The vendor reads tools, system and messages in this order. */
export function addCachePoints(body: JsonObject, policy: PromptCaching, model: string): void {
  const { acceptsCacheMarks, family } = traitsOf(model)
  if (!acceptsCacheMarks) return
  const { cacheSystem, cacheMessages, cacheTools, minTokens, cacheMessageOffset } = { ...DEFAULTS, ...policy }
  const { toolConfig, system } = body
  const { tools } = asObject(toolConfig)
  const messages = asArray(body['messages'])
  let left = CACHE_POINTS_MAX - [tools, system, ...messages.map(contentOf)].reduce<number>(addPoints, 0)
  const ended = (list: unknown): readonly unknown[] => {
    const blocks = asArray(list)
    if (left <= 0 || blocks.length === 0 || isPoint(blocks.at(-1))) return blocks
    left--
    return [...blocks, cachePoint()]
  }
  // Nova has no cache points behind tools.
  if (cacheTools && tools !== undefined && family !== 'Nova') {
    body['toolConfig'] = { ...asObject(toolConfig), tools: ended(tools) }
  }
  if (cacheSystem && system !== undefined && tokensOf(system) >= minTokens) body['system'] = ended(system)
  if (!cacheMessages || messages.length < 2) return
  const at = Math.max(0, messages.length - 2 - cacheMessageOffset)
  body['messages'] = messages.map((message, index) =>
    index === at ? { ...asObject(message), content: ended(contentOf(message)) } : message,
  )
}

function contentOf(message: unknown): unknown {
  return asObject(message)['content']
}

function addPoints(sum: number, blocks: unknown): number {
  return sum + asArray(blocks).filter(isPoint).length
}

function isPoint(block: unknown): boolean {
  return Object.hasOwn(asObject(block), 'cachePoint')
}

function tokensOf(system: unknown): number {
  const words = asArray(system).map((block) => asString(asObject(block)['text'])?.match(/\S+/g)?.length ?? 0)
  return Math.trunc(words.reduce((sum, count) => sum + count, 0) * TOKENS_PER_WORD)
}
