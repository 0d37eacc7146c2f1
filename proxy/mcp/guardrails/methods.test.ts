import { describe, expect, it } from 'vitest'
import { compileMethods } from './methods.ts'

describe('compileMethods', () => {
  it.each([
    ['tools/call', 'Full', 'the name itself wins'],
    ['tools/list', 'Request', 'a longer beginning wins over a shorter one, and over an end'],
    ['to', 'Response', 'a shorter beginning matches the rest'],
    ['prompts/list', 'Request', 'an end wins over *'],
    ['ping', 'Off', '* matches the rest'],
  ])('%s: %s (%s)', (method, phase) => {
    const phaseOf = compileMethods([
      { method: '*', phase: 'Off' },
      { method: '*/list', phase: 'Request' },
      { method: 't*', phase: 'Response' },
      { method: 'tools/*', phase: 'Request' },
      { method: 'tools/call', phase: 'Full' },
    ])
    expect(phaseOf(method)).toBe(phase)
  })

  it('selects the first of two patterns of one length in the order of the alphabet', () => {
    const phases = { '*/call': 'Full', '*scall': 'Request', 'a*': 'Response' } as const
    const methods = Object.entries(phases).map(([method, phase]) => ({ method, phase }))
    expect(compileMethods(methods)('x/call')).toBe('Full')
    expect(compileMethods([...methods, { method: '*call', phase: 'Off' }])('tools/call')).toBe('Full')
    expect(compileMethods(methods)('toolscall')).toBe('Request')
  })

  it('does not check a method without a match', () => {
    expect(compileMethods([{ method: 'tools/call', phase: 'Full' }])('tools/list')).toBe('Off')
  })
})
