import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MCPBackend } from '#api/ir/types.gen.ts'
import { locateServerId, namingOf, showServerId } from './names.ts'

/** Names of targets are DNS labels: they contain neither separator. */
const targetName = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/)
const itemName = fc.string({ minLength: 1, maxLength: 20 })

const backend = (names: readonly string[], prefixMode: MCPBackend['prefixMode']): MCPBackend => ({
  targets: names.map((name) => ({ name })),
  sessionRouting: 'Stateful',
  prefixMode,
  failureMode: 'FailClosed',
})

describe('namingOf', () => {
  it('creates names that are unique and can be resolved, for 1, 2 and up to 32 targets', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(targetName, { minLength: 1, maxLength: 32 }),
        fc.constantFrom('Conditional' as const, 'Always' as const),
        fc.uniqueArray(itemName, { minLength: 1, maxLength: 5 }),
        (targets, prefixMode, items) => {
          const naming = namingOf(backend(targets, prefixMode))
          const shown = new Set<string>()
          for (const target of targets) {
            for (const name of items) {
              const text = naming.show(target, name)
              expect(shown.has(text)).toBe(false)
              shown.add(text)
              expect(naming.locate(text)).toEqual({ target, name })
              for (const uri of [`doc:${name}`, `ui://${name}`]) {
                expect(naming.locateUri(naming.showUri(target, uri))).toEqual({ target, name: uri })
              }
            }
          }
        },
      ),
    )
  })

  it('shows plain names for one target, and always with Never', () => {
    expect(namingOf(backend(['a'], 'Conditional')).show('a', 'x')).toBe('x')
    expect(namingOf(backend(['a'], 'Always')).show('a', 'x')).toBe('a_x')
    const never = namingOf(backend(['a', 'b'], 'Never'))
    expect(never.show('a', 'x')).toBe('x')
    expect(never.locate('x')).toBeUndefined()
    expect(never.showUri('a', 'file:///x')).toBe('a+file:///x')
    expect(never.showUri('a', 'ui://x/page')).toBe('ui://a+x/page')
    expect(never.showUri('a', 'no scheme')).toBe('no scheme')
  })

  it('does not resolve missing targets', () => {
    const naming = namingOf(backend(['a', 'b'], 'Conditional'))
    for (const name of ['c_x', '_x', 'x', '']) expect(naming.locate(name)).toBeUndefined()
    for (const uri of ['c+doc:x', 'a+x', 'ui://c+x', 'ui://x', 'x']) expect(naming.locateUri(uri)).toBeUndefined()
  })

  it('restores ids of server requests with their type', () => {
    fc.assert(
      fc.property(targetName, fc.oneof(fc.string(), fc.integer()), (target, id) => {
        expect(locateServerId(showServerId(target, id))).toEqual({ target, id })
      }),
    )
    expect(locateServerId('other')).toBeUndefined()
  })
})
