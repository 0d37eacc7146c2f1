import { describe, expect, it } from 'vitest'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { rememberedOwners } from './owners.ts'

const client = exchangeOf()
const other = exchangeOf({ headers: [['authorization', 'Bearer x']] })
const changed = (method: string) => ({ jsonrpc: '2.0' as const, method })

describe('remembered owners', () => {
  it('know the server of a name, and names of several servers', () => {
    const owners = rememberedOwners()
    owners.set(client, 'tool', [
      { target: 'a', name: 'x' },
      { target: 'a', name: 'y' },
      { target: 'b', name: 'y' },
    ])
    expect(owners.get(client, 'tool', 'x')).toEqual({ target: 'a', name: 'x' })
    expect(owners.get(client, 'tool', 'y')).toBe('several')
    expect(owners.get(client, 'tool', 'z')).toBeUndefined()
    expect(owners.get(client, 'prompt', 'x')).toBeUndefined()
    expect(owners.get(other, 'tool', 'x')).toBeUndefined()
  })

  it('are forgotten after their time, after an error, and when a list changes', () => {
    let nowMs = 0
    const owners = rememberedOwners(() => nowMs)
    const known = (): boolean => owners.get(client, 'tool', 'x') !== undefined
    const remember = (): void => owners.set(client, 'tool', [{ target: 'a', name: 'x' }])
    remember()
    nowMs = 29_999
    expect(known()).toBe(true)
    nowMs = 30_000
    expect(known()).toBe(false)
    remember()
    owners.forget(client, 'tool')
    expect(known()).toBe(false)
    remember()
    owners.note(changed('notifications/prompts/list_changed'))
    expect(known()).toBe(true)
    owners.note(changed('notifications/tools/list_changed'))
    expect(known()).toBe(false)
  })

  it('are bounded: the oldest lists are dropped', () => {
    const owners = rememberedOwners()
    const many = Array.from({ length: 40_000 }, (_, index) => ({ target: 'a', name: `t${index}` }))
    owners.set(client, 'tool', many)
    owners.set(client, 'tool', many)
    expect(owners.get(client, 'tool', 't0')).toBeDefined()
    owners.set(other, 'tool', many)
    expect(owners.get(client, 'tool', 't0')).toBeUndefined()
    expect(owners.get(other, 'tool', 't0')).toBeDefined()
  })
})
