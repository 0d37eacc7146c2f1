// Hosts, paths and bodies of Vertex AI.
import { describe, expect, it } from 'vitest'
import type { VertexProvider } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { HeaderList } from '../../message/headers.ts'
import { providerHost } from '../../backend/provider-address.ts'
import { SENT_FORMATS } from '../formats/table.ts'
import type { JsonObject } from '../json.ts'
import { vertex } from './vertex.ts'

const PROJECT: VertexProvider = { projectId: 'my-project' }
const GLOBAL = '/v1/projects/my-project/locations/global'

describe('the host of Vertex AI', () => {
  it.each([
    [undefined, 'aiplatform.googleapis.com'],
    ['global', 'aiplatform.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us-east5', 'us-east5-aiplatform.googleapis.com'],
  ])('in the region %s', (region, host) => {
    const settings = region === undefined ? PROJECT : { ...PROJECT, region }
    expect(providerHost({ name: 'p', provider: { vertex: settings } })).toBe(host)
  })
})

describe('the path of a model on Vertex AI', () => {
  it.each<[SentFormatName, string, boolean, string]>([
    ['Messages', 'claude-opus-4-1', false, '/publishers/anthropic/models/claude-opus-4-1:rawPredict'],
    [
      'Messages',
      'claude-opus-4-1-20250805',
      true,
      '/publishers/anthropic/models/claude-opus-4-1@20250805:streamRawPredict',
    ],
    ['Messages', 'anthropic/claude-x@1', false, '/publishers/anthropic/models/claude-x@1:rawPredict'],
    ['Messages', 'publishers/anthropic/models/../x?', false, '/publishers/anthropic/models/..%2Fx%3F:rawPredict'],
    ['AnthropicTokenCount', 'claude-opus-4-1', false, '/publishers/anthropic/models/count-tokens:rawPredict'],
    ['GenerateContent', 'gemini-3-pro', false, '/publishers/google/models/gemini-3-pro:generateContent'],
    [
      'GenerateContent',
      'google/gemini-3-pro',
      true,
      '/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse',
    ],
    [
      'GenerateContent',
      'publishers/google/models/gemini-3-pro',
      false,
      '/publishers/google/models/gemini-3-pro:generateContent',
    ],
    ['GeminiCountTokens', 'google/gemini-3-pro', false, '/publishers/google/models/gemini-3-pro:countTokens'],
    ['Completions', 'meta/llama-4', false, '/endpoints/openapi/chat/completions'],
  ])('%s, %s, stream %s', (format, model, isStreaming, path) => {
    expect(vertex.paths(PROJECT, undefined)(SENT_FORMATS[format], model, isStreaming)).toBe(GLOBAL + path)
  })

  it('has project and region, and the prefix of the user in front', () => {
    const settings = { projectId: 'a/b', region: 'us-east5' }
    expect(vertex.paths(settings, '/own/')(SENT_FORMATS.Completions, 'm', false)).toBe(
      '/own/v1/projects/a%2Fb/locations/us-east5/endpoints/openapi/chat/completions',
    )
  })

  it.each([
    ['claude-x', ['Messages', 'AnthropicTokenCount']],
    ['anthropic/x', ['Messages', 'AnthropicTokenCount']],
    ['publishers/anthropic/models/x', ['Messages', 'AnthropicTokenCount']],
    ['google/gemini-x', ['GenerateContent', 'GeminiCountTokens', 'Predict', 'Rank']],
    ['models/gemini-x', ['GenerateContent', 'GeminiCountTokens', 'Predict', 'Rank']],
    ['meta/llama-4', ['Completions', 'Predict', 'Rank']],
    ['my-claude-x', ['Completions', 'Predict', 'Rank']],
  ])('%s has the formats %o', (model, formats) => {
    expect([...vertex.formats(PROJECT)(model)]).toEqual(formats)
  })
})

describe('the body for Vertex AI', () => {
  const finished = (body: JsonObject, model: string, sent: SentFormatName): JsonObject => {
    vertex.finish?.(body, PROJECT, { model, sent, headers: HeaderList.of([]) })
    return body
  }

  it('of messages has a version and no model', () => {
    expect(finished({ model: 'claude-x', max_tokens: 1, output_format: {} }, 'claude-x', 'Messages')).toEqual({
      max_tokens: 1,
      anthropic_version: 'vertex-2023-10-16',
    })
  })

  it('of a token count has the model', () => {
    const body = finished({ model: 'anthropic/c-20250805' }, 'anthropic/c-20250805', 'AnthropicTokenCount')
    expect(body).toEqual({ model: 'c@20250805', anthropic_version: 'vertex-2023-10-16' })
  })

  it('has no scopes of cache marks; input of tools is not changed', () => {
    const cache_control = { type: 'ephemeral', scope: 'global', ttl: '1h' }
    const kept = { type: 'ephemeral', ttl: '1h' }
    const call = { type: 'tool_use', id: 'c', name: 'n', input: { cache_control } }
    const plain = { role: 'user', content: 'hi' }
    const body = finished(
      {
        cache_control,
        system: [{ type: 'text', text: 's', cache_control }],
        tools: [{ name: 'n', cache_control }],
        messages: [
          plain,
          { role: 'assistant', content: [call] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 't', cache_control }] }],
          },
        ],
      },
      'claude-x',
      'Messages',
    )
    expect(body).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      cache_control: kept,
      system: [{ type: 'text', text: 's', cache_control: kept }],
      tools: [{ name: 'n', cache_control: kept }],
      messages: [
        plain,
        { role: 'assistant', content: [call] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 't', cache_control: kept }] },
          ],
        },
      ],
    })
  })

  it('is not changed where nothing has a scope', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }]
    expect(finished({ messages, system: 's' }, 'claude-x', 'Messages')['messages']).toBe(messages)
  })
})
