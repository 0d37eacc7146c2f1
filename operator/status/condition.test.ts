import { describe, expect, it } from 'vitest'
import { condition, MESSAGE_LENGTH_MAX } from './condition.ts'

const base = { type: 'Accepted', isTrue: true, reason: 'Accepted', generation: undefined }

describe('condition', () => {
  it('cuts a message at the limit of the API and marks the cut', () => {
    expect(condition({ ...base, message: 'x'.repeat(MESSAGE_LENGTH_MAX) }).message).toBe('x'.repeat(MESSAGE_LENGTH_MAX))
    const { message } = condition({ ...base, message: 'x'.repeat(MESSAGE_LENGTH_MAX + 1) })
    expect(message).toHaveLength(MESSAGE_LENGTH_MAX)
    expect(message.endsWith('(cut)')).toBe(true)
  })

  it('escapes control characters, and line ends within a line', () => {
    const text = 'a\u001b[2J\u202e\nforged: all is well'
    expect(condition({ ...base, message: text }).message).toBe('a\\x1b[2J\\u202e\\nforged: all is well')
    expect(condition({ ...base, message: [text, 'b'] }).message).toBe('a\\x1b[2J\\u202e\\nforged: all is well\nb')
  })

  it('leaves out an unknown generation', () => {
    expect(condition({ ...base, message: 'm' })).not.toHaveProperty('observedGeneration')
    expect(condition({ ...base, message: 'm', generation: 0 }).observedGeneration).toBe(0)
  })
})
