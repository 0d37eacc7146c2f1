import { describe, expect, it } from 'vitest'
import { routeTypeMatcher } from './route-type.ts'

describe('routeTypeMatcher', () => {
  it('treats everything as Completions without routes', () => {
    expect(routeTypeMatcher(undefined)('/anything')).toBe('Completions')
    expect(routeTypeMatcher({})('/v1/messages')).toBe('Completions')
  })

  it('prefers the longest suffix and takes * last', () => {
    const typeOf = routeTypeMatcher({
      '*': 'Passthrough',
      '/messages': 'Messages',
      '/v1/messages': 'Detect',
      '/count_tokens': 'AnthropicTokenCount',
    })
    expect(typeOf('/v1/messages')).toBe('Detect')
    expect(typeOf('/v2/messages')).toBe('Messages')
    expect(typeOf('/v1/messages/count_tokens')).toBe('AnthropicTokenCount')
    expect(typeOf('/v1/files')).toBe('Passthrough')
  })
})
