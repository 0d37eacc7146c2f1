import { expect, it } from 'vitest'
import { regionOfAgentRuntime } from './agent-runtime.ts'

it('reads the region of a resource name with six parts', () => {
  expect(regionOfAgentRuntime('arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a-1')).toBe('us-east-1')
})

it.each([
  ['no resource name', 'demo'],
  ['five parts', 'arn:aws:bedrock-agentcore:us-east-1:runtime/a'],
  ['seven parts', 'arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a:1'],
  ['another service', 'arn:aws:bedrock:us-east-1:123456789012:runtime/a'],
  ['no account', 'arn:aws:bedrock-agentcore:us-east-1::runtime/a'],
  ['no resource', 'arn:aws:bedrock-agentcore:us-east-1:123456789012:'],
  ['a region with a path', 'arn:aws:bedrock-agentcore:evil.example/:123456789012:runtime/a'],
  ['a region with a domain', 'arn:aws:bedrock-agentcore:x.evil.example:123456789012:runtime/a'],
  ['a region in capitals', 'arn:aws:bedrock-agentcore:US-EAST-1:123456789012:runtime/a'],
])('rejects %s', (_, ref) => {
  expect(regionOfAgentRuntime(ref)).toBeUndefined()
})
