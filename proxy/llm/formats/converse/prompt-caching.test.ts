// Cache points of the policy promptCaching.
import { describe, expect, it } from 'vitest'
import type { PromptCaching } from '#api/ir/types.gen.ts'
import type { JsonObject } from '../../json.ts'
import { addCachePoints } from './prompt-caching.ts'

const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const POINT = { cachePoint: { type: 'default' } }
const words = (count: number) => ({ text: Array.from({ length: count }, () => 'w').join(' ') })
const message = (text: string, ...more: object[]) => ({ role: 'user', content: [{ text }, ...more] })
const TOOL = { toolSpec: { name: 'n' } }

function cached(body: JsonObject, policy: PromptCaching, model = CLAUDE): JsonObject {
  const copy = { ...body }
  addCachePoints(copy, policy, model)
  return copy
}

describe('the system prompt', () => {
  it.each<[number, PromptCaching, boolean]>([
    [788, {}, true],
    [787, {}, false],
    [4, { minTokens: 5 }, true],
    [3, { minTokens: 5 }, false],
    [1, { minTokens: 0 }, true],
    [5, { minTokens: 5, cacheSystem: false }, false],
  ])('of %i words with %o is kept: %s', (count, policy, isKept) => {
    const system = [words(count)]
    expect(cached({ system }, policy)['system']).toEqual(isKept ? [...system, POINT] : system)
  })

  it('counts words of all its texts', () => {
    const system = [words(2), words(2)]
    expect(cached({ system }, { minTokens: 5 })['system']).toEqual([...system, POINT])
  })
})

describe('messages', () => {
  it.each<[number, number | undefined, number | undefined]>([
    [1, undefined, undefined],
    [2, undefined, 0],
    [4, undefined, 2],
    [4, 1, 1],
    [4, 9, 0],
  ])('%i of them with the offset %s have a point behind %s', (count, cacheMessageOffset, at) => {
    const messages = Array.from({ length: count }, (_, index) => message(String(index)))
    const policy = cacheMessageOffset === undefined ? {} : { cacheMessageOffset }
    expect(cached({ messages }, policy)['messages']).toEqual(
      messages.map((one, index) => (index === at ? { ...one, content: [...one.content, POINT] } : one)),
    )
    expect(cached({ messages }, { ...policy, cacheMessages: false })['messages']).toBe(messages)
  })
})

describe('tools', () => {
  const toolConfig = { tools: [TOOL], toolChoice: { auto: {} } }

  it.each<[string, PromptCaching, boolean]>([
    [CLAUDE, {}, false],
    [CLAUDE, { cacheTools: true }, true],
    ['amazon.nova-pro-v1:0', { cacheTools: true }, false],
  ])('of %s with %o are kept: %s', (model, policy, isKept) => {
    const tools = isKept ? [TOOL, POINT] : [TOOL]
    expect(cached({ toolConfig }, policy, model)).toEqual({ toolConfig: { ...toolConfig, tools } })
  })
})

describe('all of them', () => {
  const policy = { cacheTools: true, minTokens: 0 }
  const body = (...points: object[]): JsonObject => ({
    toolConfig: { tools: [TOOL] },
    system: [words(1)],
    messages: [message('a'), message('b', ...points)],
  })

  it('have at most four points with those of the client, in the order in which the provider reads', () => {
    expect(cached(body(POINT, POINT, POINT), policy)).toEqual({
      toolConfig: { tools: [TOOL, POINT] },
      system: [words(1)],
      messages: [message('a'), message('b', POINT, POINT, POINT)],
    })
    expect(cached(body(POINT), policy)).toEqual({
      toolConfig: { tools: [TOOL, POINT] },
      system: [words(1), POINT],
      messages: [message('a', POINT), message('b', POINT)],
    })
  })

  it('have no second point behind a point of the client', () => {
    const system = [words(1), POINT]
    expect(cached({ system }, policy)).toEqual({ system })
  })

  it.each(['anthropic.claude-v2:1', 'anthropic.claude-instant-v1', 'meta.llama4-x'])('%s has none', (model) => {
    expect(cached(body(), policy, model)).toEqual(body())
  })
})
