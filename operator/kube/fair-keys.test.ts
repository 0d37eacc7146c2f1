import { describe, expect, it } from 'vitest'
import { FairKeys, namespaceOfKey } from './fair-keys.ts'

function drained(keys: FairKeys): string[] {
  const taken: string[] = []
  for (let key = keys.take(); key !== undefined; key = keys.take()) taken.push(key)
  return taken
}

describe('namespaceOfKey', () => {
  it('reads keys with and without a kind, and objects without a namespace', () => {
    const keys = ['shop/web', 'HTTPRoute shop/cart', 'GatewayClass /gw', 'gw']
    expect(keys.map(namespaceOfKey)).toEqual(['shop', 'shop', '', ''])
  })
})

describe('FairKeys', () => {
  it('serves the single key of a namespace after one key of a namespace with a thousand', () => {
    const keys = new FairKeys()
    for (let index = 0; index < 1000; index++) keys.add(`HTTPRoute noisy/${index}`)
    keys.add('HTTPRoute quiet/only')
    expect(keys.size).toBe(1001)
    expect([keys.take(), keys.take(), keys.take()]).toEqual([
      'HTTPRoute noisy/0',
      'HTTPRoute quiet/only',
      'HTTPRoute noisy/1',
    ])
  })

  it('keeps the order within a namespace, and takes each key once', () => {
    const keys = new FairKeys()
    expect(['a/1', 'b/1', 'a/2', 'a/1'].map((key) => keys.add(key))).toEqual([true, true, true, false])
    expect(drained(keys)).toEqual(['a/1', 'b/1', 'a/2'])
    expect(keys.size).toBe(0)
    expect(keys.take()).toBeUndefined()
  })

  it('puts a namespace that comes back behind those that wait', () => {
    const keys = new FairKeys()
    keys.add('a/1')
    keys.add('b/1')
    keys.add('c/1')
    expect(keys.take()).toBe('a/1')
    keys.add('a/2')
    expect(drained(keys)).toEqual(['b/1', 'c/1', 'a/2'])
  })

  it('leaves out namespaces that are full, and keeps their turns', () => {
    const keys = new FairKeys()
    for (const key of ['a/1', 'b/1', 'c/1']) keys.add(key)
    expect(keys.take((namespace) => namespace === 'a')).toBe('b/1')
    expect(keys.take(() => true)).toBeUndefined()
    expect(keys.size).toBe(2)
    expect(drained(keys)).toEqual(['a/1', 'c/1'])
  })
})
