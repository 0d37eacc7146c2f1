// What is remembered, and what makes it be computed again.
import { describe, expect, it } from 'vitest'
import { derived, Memory } from './memory.ts'

describe('Memory', () => {
  it('computes again only when an input or a read value has changed', () => {
    const memory = new Memory()
    const source = memory.source()
    const table = memory.table<object, string>()
    const key = {}
    let word = 'a'
    let computed = 0
    const get = (...inputs: unknown[]): string =>
      table(key, inputs, () => {
        computed++
        return `${memory.read(source, () => word)}${inputs.length}`
      })
    expect([get(1), get(1)]).toEqual(['a1', 'a1'])
    expect(computed).toBe(1)
    expect(get(2)).toBe('a1')
    expect(get(2, 3)).toBe('a2')
    expect(computed).toBe(3)
    word = 'b'
    memory.changed(source)
    expect(get(2, 3)).toBe('b2')
    expect(get(2, 3)).toBe('b2')
    expect(computed).toBe(4)
  })

  it('tracks the reads of nested computations, also of a remembered one', () => {
    const memory = new Memory()
    const source = memory.source()
    const parts = memory.table<object, string>()
    const wholes = memory.table<object, string>()
    let word = 'a'
    const part = {}
    const getPart = (): string => parts(part, [], () => memory.read(source, () => word))
    const whole = {}
    const getWhole = (): string => wholes(whole, [], () => `<${getPart()}>`)
    getPart()
    expect(getWhole()).toBe('<a>')
    word = 'b'
    memory.changed(source)
    expect(getWhole()).toBe('<b>')
  })

  it('repeats only reads of changed sources, and checks other reads only when needed', () => {
    const memory = new Memory()
    const [first, second] = [memory.source(), memory.source()]
    const table = memory.table<object, string>()
    const key = {}
    const looks: string[] = []
    const look = (word: string) => (): string => {
      looks.push(word)
      return word
    }
    const get = (): string => table(key, [], () => memory.read(first, look('a')) + memory.read(first, look('b')))
    expect([get(), get()]).toEqual(['ab', 'ab'])
    expect(looks).toEqual(['a', 'b'])
    memory.changed(second)
    expect([get(), looks.length]).toEqual(['ab', 2])
    memory.changed(first)
    expect([get(), get(), looks.length]).toEqual(['ab', 'ab', 4])
  })

  it('repeats a lookup of one key only when that key has changed, or the changed keys are unknown', () => {
    const memory = new Memory()
    const source = memory.source()
    const table = memory.table<object, string>()
    const key = {}
    const words = new Map([['a', 'x']])
    let looks = 0
    const look = (): string => {
      looks++
      return words.get('a') ?? ''
    }
    const get = (): string => table(key, [], () => memory.read(source, look, 'a'))
    expect(get()).toBe('x')
    memory.changed(source, ['b'])
    expect([get(), looks]).toEqual(['x', 1])
    words.set('a', 'y')
    memory.changed(source, ['c', 'a'])
    memory.changed(source, ['b'])
    expect([get(), looks]).toEqual(['y', 3])
    words.set('a', 'z')
    memory.changed(source)
    expect(get()).toBe('z')
    words.set('a', 'w')
    // Too many to be kept apart.
    for (let many = 0; many < 2000; many++) memory.changed(source, [many === 0 ? 'a' : `k${many}`])
    expect(get()).toBe('w')
  })

  it('passes the previous result to a computation that runs again', () => {
    const memory = new Memory()
    const table = memory.table<object, string>()
    const key = {}
    const get = (input: number): string => table(key, [input], (before) => `${before ?? ''}${input}`)
    expect([get(1), get(2), get(2), get(3)]).toEqual(['1', '12', '12', '123'])
  })

  it('computes the items of a list that changed, or whose reads changed', () => {
    const memory = new Memory()
    const source = memory.source()
    const words = new Map([
      ['a', 'x'],
      ['b', 'y'],
    ])
    const computed: string[] = []
    const list = memory.list(({ name }: { readonly name: string }) => {
      computed.push(name)
      return { word: memory.read(source, () => words.get(name), name) }
    })
    const items = [{ name: 'a' }, { name: 'b' }, { name: 'a' }]
    const first = list(items)
    expect(first).toEqual([{ word: 'x' }, { word: 'y' }, { word: 'x' }])
    expect(list([...items])).toBe(first)
    words.set('a', 'z')
    memory.changed(source, ['a'])
    computed.length = 0
    const second = list(items)
    expect(second).toEqual([{ word: 'z' }, { word: 'y' }, { word: 'z' }])
    expect([second[1] === first[1], computed]).toEqual([true, ['a', 'a']])
    computed.length = 0
    words.set('b', 'w')
    memory.changed(source, ['b'])
    const other = { name: 'a' }
    expect(list([...items.slice(0, 2), other, items[2] ?? other])).toEqual(
      ['z', 'w', 'z', 'z'].map((word) => ({ word })),
    )
    expect(computed).toEqual(['b', 'a'])
    expect(list([])).toEqual([])
  })

  it('checks only the items of a list that read the changed key, themselves or in a part', () => {
    const memory = new Memory()
    const source = memory.source()
    const words = new Map<string, string>()
    const looks: string[] = []
    const read = (name: string): string => memory.read(source, () => (looks.push(name), words.get(name) ?? '?'), name)
    const parts = memory.table<object, string>()
    const shared = {}
    const list = memory.list(({ name }: { readonly name: string }) => {
      return { word: read(name) + parts(shared, [], () => read('shared')) }
    })
    const items = ['a', 'b', 'c'].map((name) => ({ name }))
    const changedTo = (name: string, word: string, now = items): readonly string[] => {
      words.set(name, word)
      memory.changed(source, [name])
      looks.length = 0
      return list(now).map((one) => one.word)
    }
    expect(changedTo('a', 'x')).toEqual(['x?', '??', '??'])
    expect(changedTo('b', 'y')).toEqual(['x?', 'y?', '??'])
    expect(looks).toEqual(['b', 'b'])
    expect(changedTo('unused', 'z')).toEqual(['x?', 'y?', '??'])
    expect(looks).toEqual([])
    expect(changedTo('shared', '!')).toEqual(['x!', 'y!', '?!'])
    // What one item came to is another, another one came in front of it, and the last one went.
    const now = [...items.slice(0, 1), { name: 'new' }, ...items.slice(1, 2)]
    expect(changedTo('b', 'w', now)).toEqual(['x!', '?!', 'w!'])
    expect(looks).toEqual(['b', 'new', 'b'])
    // Removed items are not read again, and added ones are.
    changedTo('c', 'v', now)
    expect(looks).toEqual([])
    expect(changedTo('new', 's', now)).toEqual(['x!', 's!', 'w!'])
    expect(looks).toEqual(['new', 'new'])
    const many = Array.from({ length: 70 }, (_, at) => ({ name: `n${at}` }))
    expect(changedTo('n7', 'u', many)[7]).toBe('u!')
    expect(changedTo('shared', '.', many).every((word) => word.endsWith('.'))).toBe(true)
    expect(changedTo('n9', 't', many).slice(7, 10)).toEqual(['u.', '?.', 't.'])
  })

  it('runs a stage again when a read of an item of one of its lists changed', () => {
    const memory = new Memory()
    const source = memory.source()
    let word = 'a'
    const list = memory.list(() => ({ word: memory.read(source, () => word) }))
    const stage = memory.stage<string>()
    const items = [{}]
    const get = (): string =>
      stage([], () =>
        list(items)
          .map((one) => one.word)
          .join(),
      )
    expect(get()).toBe('a')
    word = 'b'
    expect(get()).toBe('a')
    memory.changed(source)
    expect(get()).toBe('b')
  })

  it('has room for 31 sources', () => {
    const memory = new Memory()
    const table = memory.table<object, number>()
    const sources = Array.from({ length: 31 }, () => memory.source())
    expect(() => memory.source()).toThrow('more than 31')
    let value = 1
    const key = {}
    const last = sources.at(-1) ?? 0
    const get = (): number => table(key, [], () => memory.read(last, () => value))
    expect(get()).toBe(1)
    value = 2
    memory.changed(last)
    expect(get()).toBe(2)
  })

  it('is unchanged after a computation that throws', () => {
    const memory = new Memory()
    const table = memory.table<object, number>()
    const key = {}
    expect(() =>
      table(key, [], () => {
        throw new Error('broken')
      }),
    ).toThrow('broken')
    expect(table(key, [], () => 1)).toBe(1)
  })
})

describe('derived', () => {
  it('computes again only for another object', () => {
    const list = derived((source: { readonly word: string }) => [source.word])
    const source = { word: 'a' }
    expect(list(source)).toBe(list(source))
    expect(list({ word: 'a' })).not.toBe(list(source))
  })
})
