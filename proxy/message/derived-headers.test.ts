// Derived header fields: equal to a change of each list, whatever came before, and separate from it.
import { describe, expect, it } from 'vitest'
import { requestHeadText } from './head-text.ts'
import { DerivedByKey } from './derived-headers.ts'
import { HeaderList } from './headers.ts'

const secret = (value: string): HeaderList =>
  HeaderList.of([
    ['authorization', value],
    ['x', '1'],
  ])

function rename(headers: HeaderList): void {
  headers.set('x-key', headers.get('authorization') ?? '')
  headers.remove('authorization')
}

function headOf(headers: HeaderList): string | undefined {
  return requestHeadText({
    method: 'GET',
    pathAndQuery: '/',
    authority: 'a',
    headers,
    framing: 'None',
    upgrade: undefined,
  })
}

describe('derived header fields', () => {
  it('are those of the present list, not of the last one', () => {
    const lists = new DerivedByKey<string>().of('a')
    for (const value of ['one', 'one', 'two', 'one']) {
      const derived = lists.of(secret(value), rename)
      expect([...derived]).toEqual([
        ['x', '1'],
        ['x-key', value],
      ])
      expect(headOf(derived)).toContain(`\r\nx: 1\r\nx-key: ${value}\r\n\r\n`)
    }
  })

  it('do not change with an earlier result, or with the list that they come from', () => {
    const lists = new DerivedByKey<string>().of('a')
    const from = secret('one')
    lists.of(from, rename).set('x', 'changed')
    from.set('x', 'changed')
    const derived = lists.of(secret('one'), rename)
    expect(derived.get('x')).toBe('1')
    derived.append('y', '2')
    expect(headOf(derived)).toContain('\r\ny: 2\r\n')
    expect(headOf(lists.of(secret('one'), rename))).not.toContain('y: 2')
  })

  it('are changed once for equal lists', () => {
    const lists = new DerivedByKey<string>().of('a')
    let changes = 0
    for (let i = 0; i < 3; i++) lists.of(secret('one'), () => changes++)
    expect(changes).toBe(1)
  })

  it('are apart for each key', () => {
    const byKey = new DerivedByKey<string>()
    expect(byKey.of('a').of(secret('one'), rename).has('authorization')).toBe(false)
    expect(
      byKey
        .of('b')
        .of(secret('one'), () => {})
        .has('authorization'),
    ).toBe(true)
  })

  it('keep the names as the peer spelled them', () => {
    const lists = new DerivedByKey<string>().of('a')
    lists.of(secret('one'), rename)
    const from = secret('one')
    from.wireNames = new Map([['x', 'X']])
    expect(headOf(lists.of(from, rename))).toContain('\r\nX: 1\r\n')
  })
})
