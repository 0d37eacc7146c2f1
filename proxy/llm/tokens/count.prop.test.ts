import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { COUNTERS, NEVER } from './counters.testing.ts'

const part = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    ' ',
    '  ',
    '\n',
    '\r\n',
    '\t',
    '\u3000',
    "'s",
    "don't",
    "'LL",
    '123456',
    'ABCdef',
    '://',
    '漢字',
    '👩‍👩‍👧‍👦',
  ),
  fc.lorem({ maxCount: 5 }),
)
const text = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''))

it.each([
  ['cl100k_base', countCl100k],
  ['o200k_base', countO200k],
] as const)('the count of %s is that of the library for any text', async (name, count) => {
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async (once, times) => {
      const whole = `${once} `.repeat(times)
      expect(await COUNTERS[name].count([whole], NEVER)).toBe(count(whole))
    }),
    { numRuns: runs(500) },
  )
})
