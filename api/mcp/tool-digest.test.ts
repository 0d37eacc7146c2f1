import { describe, expect, it } from 'vitest'
import { parseJsonExactly, recordOf } from '../json.ts'
import { toolDigest } from './tool-digest.ts'

const digest = (text: string): string => toolDigest(recordOf(parseJsonExactly(text)))

const TOOL =
  '{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"},"y":{}}}}'

describe('the digest of a tool', () => {
  it('is known for a known definition', () => {
    // printf '{"description":"d"}' | sha256sum
    expect(digest('{"description":"d"}')).toBe(
      'sha256:4dcfa1e37cc57d71dfb7568bba86f0bf8fe424c0a660abe8edb744efc021aaea',
    )
  })

  it('does not depend on the order of members, the name or members for programs', () => {
    const other =
      '{"_meta":{"v":2},"inputSchema":{"properties":{"y":{},"x":{"type":"string"}},"type":"object"},"description":"d","name":"b_a"}'
    expect(digest(other)).toBe(digest(TOOL))
  })

  it.each([
    ['description', TOOL.replace('"d"', '"e"')],
    ['input schema', TOOL.replace('string', 'number')],
    ['title', TOOL.replace('{"name"', '{"title":"t","name"')],
    ['output schema', TOOL.replace('{"name"', '{"outputSchema":{},"name"')],
    ['annotations', TOOL.replace('{"name"', '{"annotations":{"readOnlyHint":true},"name"')],
    ['order of a list', TOOL.replace('{"type":"string"}', '{"enum":["a","b"]}')],
  ])('depends on the %s', (_, changed) => {
    expect(digest(changed)).not.toBe(digest(TOOL))
  })

  it('distinguishes numbers that a double cannot represent', () => {
    const withMaximum = (maximum: string): string => TOOL.replace('{"type":"string"}', `{"maximum":${maximum}}`)
    expect(digest(withMaximum('12345678901234567890'))).not.toBe(digest(withMaximum('12345678901234567891')))
  })
})
