// Rules of a small schema: paths, transitions, messages, names. What the engine computes is in cel/environment.test.ts.
import { describe, expect, it } from 'vitest'
import { ruleProblems } from './rules.ts'
import type { Rule, Semantics } from './semantics.ts'

const table = (rule: Rule, rest: Semantics = {}): Semantics => ({ fields: { spec: { rules: [rule], ...rest } } })

const paths = (semantics: Semantics, object: unknown, old?: unknown) =>
  ruleProblems(semantics, object, old).map(({ path, message }) => `${path}: ${message}`)

describe('ruleProblems', () => {
  it('names the place of the rule, with its own message, reason and field', () => {
    const semantics = table({
      rule: 'self.a > 1',
      message: 'a is small',
      reason: 'FieldValueForbidden',
      fieldPath: '.a',
    })
    expect(ruleProblems(semantics, { spec: { a: 1 } })).toEqual([
      { path: 'spec.a', message: 'a is small', reason: 'FieldValueForbidden', severity: 'error' },
    ])
    expect(ruleProblems(semantics, { spec: { a: 2 } })).toEqual([])
    expect(ruleProblems(semantics, {})).toEqual([])
  })

  it('reports an evaluation error at the path of the rule', () => {
    const semantics = table({ rule: 'self.list[0] == 1', message: 'first is one', fieldPath: '.list' })
    expect(paths(semantics, { spec: { list: [] } })[0]).toMatch(/^spec: .*evaluating rule: first is one$/)
  })

  it('evaluates message expressions, and falls back to the message', () => {
    const rule = { rule: 'false', messageExpression: '"got " + string(self.a)', message: 'plain' }
    expect(paths(table(rule), { spec: { a: 3 } })).toEqual(['spec: got 3'])
    expect(paths(table(rule), { spec: {} })).toEqual(['spec: plain'])
    expect(paths(table({ rule: ' false ' }), { spec: {} })).toEqual(['spec: failed rule: false'])
  })

  it('visits entries of lists and values of maps', () => {
    const good: Semantics = { rules: [{ rule: "self != 'bad'", message: 'bad' }] }
    const semantics: Semantics = { fields: { list: { items: good }, map: { values: good } } }
    expect(paths(semantics, { list: ['good', 'bad'], map: { 'a.b/c': 'bad' } })).toEqual([
      'list[1]: bad',
      'map[a.b/c]: bad',
    ])
  })

  it('escapes the names that CEL reserves', () => {
    const semantics = table(
      { rule: "self.__namespace__ == 'a' && self.x__dash__y == 1", message: 'no' },
      { escaped: { namespace: '__namespace__', 'x-y': 'x__dash__y' } },
    )
    expect(paths(semantics, { spec: { namespace: 'a', 'x-y': 1 } })).toEqual([])
    expect(paths(semantics, { spec: { namespace: 'b', 'x-y': 1 } })).toEqual(['spec: no'])
  })

  it('distinguishes integers from other numbers by the schema', () => {
    const semantics: Semantics = {
      fields: {
        d: { double: true, rules: [{ rule: 'type(self) == double', message: 'double' }] },
        i: { rules: [{ rule: 'type(self) == int', message: 'int' }] },
      },
    }
    expect(paths(semantics, { d: 1, i: 1 })).toEqual([])
  })
})

describe('transition rules', () => {
  const immutable = table({ rule: 'self == oldSelf', message: 'must not change' })

  it('run on updates only', () => {
    expect(paths(immutable, { spec: { a: 1 } })).toEqual([])
    expect(paths(immutable, { spec: { a: 1 } }, { spec: { a: 1 } })).toEqual([])
    expect(paths(immutable, { spec: { a: 2 } }, { spec: { a: 1 } })).toEqual(['spec: must not change'])
    expect(paths(immutable, { spec: { a: 2 } }, {})).toEqual([])
  })

  it('run on creation with an optional old value when asked to', () => {
    const rule = { rule: 'oldSelf.hasValue() || self.a == 1', message: 'begins with 1', optionalOldSelf: true }
    expect(paths(table(rule), { spec: { a: 1 } })).toEqual([])
    expect(paths(table(rule), { spec: { a: 2 } })).toEqual(['spec: begins with 1'])
    expect(paths(table(rule), { spec: { a: 2 } }, { spec: { a: 1 } })).toEqual([])
  })

  it('compare entries of a list-map by key, and of other lists not at all', () => {
    const entry = { rules: [{ rule: 'self.v >= oldSelf.v', message: 'shrunk' }] }
    const byKey: Semantics = { fields: { l: { items: entry, list: ['k'] } } }
    const old = {
      l: [
        { k: 'a', v: 1 },
        { k: 'b', v: 5 },
      ],
    }
    const next = {
      l: [
        { k: 'b', v: 4 },
        { k: 'a', v: 2 },
        { k: 'c', v: 0 },
      ],
    }
    expect(paths(byKey, next, old)).toEqual(['l[0]: shrunk'])
    expect(paths({ fields: { l: { items: entry } } }, next, old)).toEqual([])
  })

  it('find the word oldSelf only outside of string literals', () => {
    expect(paths(table({ rule: "self.a != 'oldSelf'", message: 'no' }), { spec: { a: 'oldSelf' } })).toEqual([
      'spec: no',
    ])
  })
})
