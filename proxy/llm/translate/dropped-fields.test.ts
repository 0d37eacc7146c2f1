import { expect, it } from 'vitest'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { emptyFacts } from '../usage.ts'
import { DroppedFields } from './dropped-fields.ts'

it.each([
  [0, undefined],
  [1, 'f0'],
  [32, /^f0, .*, f31$/],
  [34, /, f31, 2 more$/],
])('%d dropped fields are named in the log as %s', (count, expected) => {
  const dropped = new DroppedFields()
  for (let at = 0; at < count; at++) dropped.dropped(`f${at}`, 'no use')
  const facts = emptyFacts('openai')
  dropped.report(exchangeOf(), facts)
  if (expected instanceof RegExp) expect(facts.droppedFields).toMatch(expected)
  else expect(facts.droppedFields).toBe(expected)
})
