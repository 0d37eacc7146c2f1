// The functions of the API server in rules, and what does not compile.
import { describe, expect, it } from 'vitest'
import { KINDS } from '../kinds/register.gen.ts'
import type { Rule, Semantics } from '../semantics.ts'
import { compileRule } from './environment.ts'
import { RULES_THAT_HOLD, SELF } from './rule-cases.testing.ts'

const self = { ...SELF, list: SELF.list.map(BigInt) }

/** Also of all below. */
function rulesOf({ rules = [], fields = {}, items, values }: Semantics): Rule[] {
  const below = [...Object.values(fields), items, values].filter((child) => child !== undefined)
  return [...rules, ...below.flatMap(rulesOf)]
}

const run = (rule: string): unknown => compileRule(rule)({ self })

describe('functions of rules', () => {
  it.each(RULES_THAT_HOLD.map((rule) => [rule]))('%s', (rule) => {
    expect(run(rule)).toBe(true)
  })

  it.each([
    ['quantity("x")', 'not a quantity'],
    ['url("x")', 'not a URL'],
    ['ip("x")', 'not an IP address'],
    ['cidr("x")', 'not a CIDR block'],
    ['self.nothing == 1', 'No such key'],
    ['[].max()', 'need an entry'],
    ['self.text.charAt(12)', 'out of range'],
  ])('refuses %s', (rule, message) => {
    expect(() => run(rule)).toThrow(message)
  })

  it.each([
    ['self.', 'Expected'],
    ['noSuchFunction(self)', 'noSuchFunction'],
    ['has(self)', 'has() needs a field'],
    ['unknown == 1', 'Unknown variable'],
  ])('does not compile %s', (rule, message) => {
    expect(() => compileRule(rule)).toThrow(message)
  })
})

describe('the rules of every kind', () => {
  it('compile', () => {
    const rules = [...KINDS.values()].flatMap(({ semantics }) => rulesOf(semantics))
    expect(rules.length).toBeGreaterThan(200)
    for (const { rule, messageExpression } of rules) {
      expect(() => compileRule(rule)).not.toThrow()
      if (messageExpression !== undefined) expect(() => compileRule(messageExpression)).not.toThrow()
    }
  })
})
