import { describe, expect, it } from 'vitest'
import type { Json } from '../kube-object.ts'
import { changedFields } from './changed-fields.ts'

const gw = { name: 'gw', image: 'a' }

describe('changedFields', () => {
  it.each<[string, Json | undefined, Json | undefined, string[]]>([
    ['equal objects', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    ['other order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['a value', { a: { b: 1 } }, { a: { b: 2 } }, ['.a.b']],
    ['a null', { a: 1 }, { a: null }, ['.a']],
    ['a new map, field by field', {}, { a: { b: { c: 1, d: 2 } } }, ['.a.b.c', '.a.b.d']],
    ['a map that is gone, field by field', { a: { b: 1, c: 2 } }, {}, ['.a.b', '.a.c']],
    ['a new empty map', {}, { a: {} }, ['.a']],
    ['an empty map that is gone', { a: {} }, {}, ['.a']],
    ['a map in place of a list', { a: [] }, { a: {} }, ['.a']],
    ['a text in place of a map', { a: { b: 1 } }, { a: 'x' }, ['.a']],
    ['a list without names', { a: [1] }, { a: [2] }, ['.a']],
    ['a list of maps without names', { a: [{ port: 1 }] }, { a: [{ port: 2 }] }, ['.a']],
    ['a field of an item', { a: [gw] }, { a: [{ ...gw, image: 'b' }] }, ['.a[gw].image']],
    ['a new item, field by field', { a: [gw] }, { a: [gw, { name: 'x', image: 'b' }] }, ['.a[x].image']],
    ['an item that is gone', { a: [gw] }, { a: [] }, ['.a[gw].image']],
    ['a new item that is only a name', { a: [gw] }, { a: [gw, { name: 'x' }] }, ['.a[x]']],
    ['other order of items', { a: [gw, { name: 'x' }] }, { a: [{ name: 'x' }, gw] }, ['.a']],
    ['a new empty list', {}, { a: [] }, ['.a']],
    ['two items of one name', { a: [gw] }, { a: [gw, gw] }, ['.a']],
    ['a name that is not a string', { a: [gw] }, { a: [{ name: 1 }] }, ['.a']],
    ['keys with dots', { labels: {} }, { labels: { 'a.example/b': 'c' } }, ['.labels[a.example/b]']],
    ['names of object members', {}, { constructor: { toString: 1 } }, ['.constructor.toString']],
  ])('names %s', (_, before, after, shown) => {
    expect(changedFields(before, after).map((field) => field.shown)).toEqual(shown)
  })
})
