// @module-tag full
import { setImmediate as turn } from 'node:timers/promises'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { EXACT_CHARS_MAX } from './count.ts'
import { COUNTERS, NEVER } from './counters.testing.ts'
import { PIECE_BYTES_MAX } from './merge.ts'

const { cl100k_base: cl100k, o200k_base: o200k } = COUNTERS

/** Letters in an order without a pattern. */
function letters(length: number): string {
  let state = 1
  const one = (): string => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCodePoint(97 + (state % 26))
  }
  return Array.from({ length }, one).join('')
}

describe('a count', () => {
  // The examples of the cookbook of OpenAI, "How to count tokens with tiktoken".
  it.each([
    ['tiktoken is great!', 6, 6],
    ['antidisestablishmentarianism', 6, 6],
    ['2 + 2 = 4', 7, 7],
    ['お誕生日おめでとう', 9, 8],
    ['', 0, 0],
  ])('of %j is the published one', async (text, inCl100k, inO200k) => {
    expect([await cl100k.count([text], NEVER), await o200k.count([text], NEVER)]).toEqual([inCl100k, inO200k])
  })

  it('is the sum of those of the texts', async () => {
    expect(await o200k.count(['tiktoken is great!', '', '2 + 2 = 4'], NEVER)).toBe(13)
  })

  it('takes the names of special tokens for text', async () => {
    expect(await o200k.count(['<|endoftext|>'], NEVER)).toBeGreaterThan(1)
  })

  it.each([
    ['words', 'The quick brown fox jumps over the lazy dog. '.repeat(2000)],
    ['words and long runs of spaces', `one${' '.repeat(60)}two`.repeat(1000)],
    ['lines with indentation', '\n    "key": [1, 23, 456],\n\n\t\t// notes\r\n'.repeat(1000)],
    ['characters of three and four bytes', '漢字 仮名交じり文 👩‍👩‍👧‍👦 naïve '.repeat(1000)],
    ['halves of surrogate pairs', '\ud83d \ude00 x'.repeat(2000)],
  ])('of many windows of %s is that of the whole text', async (_, text) => {
    expect(await o200k.count([text], NEVER)).toBe(countO200k(text))
  })
})

describe('the worst texts', () => {
  const WORST: readonly (readonly [string, string])[] = [
    ['one word', letters(100_000)],
    ['one letter', 'a'.repeat(100_000)],
    ['line feeds', '\n'.repeat(100_000)],
    ['spaces', ' '.repeat(100_000)],
    ['emoji', '👩‍👩‍👧‍👦'.repeat(10_000)],
    ['one piece of three bytes a character', '漢'.repeat(100_000)],
  ]

  it.each(WORST)('%s: the event loop turns while they are counted', async (_, text) => {
    const all = text.repeat(4)
    let turns = 0
    const turning = new AbortController()
    const others = (async (): Promise<void> => {
      for (; !turning.signal.aborted; turns++) await turn()
    })()
    expect(await o200k.count([all], NEVER)).toBeGreaterThan(0)
    turning.abort()
    await others
    // A window takes at most some milliseconds; without turns it would be one.
    expect(turns).toBeGreaterThan(3)
  })

  it('a long word has at most one token more for each part that is counted by itself', async () => {
    const word = letters(PIECE_BYTES_MAX * 2)
    const exact = countO200k(word)
    const count = await o200k.count([word], NEVER)
    expect(count).toBeGreaterThanOrEqual(exact - 2)
    expect(count).toBeLessThanOrEqual(exact + 2)
  })
})

describe('a prompt above the limit', () => {
  it('has the tokens of its beginning for each character of the rest', async () => {
    const beginning = 'ab cd '.repeat(EXACT_CHARS_MAX / 6 + 1)
    const exact = await o200k.count([beginning], NEVER)
    const count = await o200k.count([beginning, '\n'.repeat(beginning.length), beginning], NEVER)
    expect(count / (exact * 3)).toBeCloseTo(1, 3)
  })

  it('is not counted further if the client leaves', async () => {
    const text = letters(EXACT_CHARS_MAX)
    const aborted = AbortSignal.abort()
    expect(await o200k.count([text], aborted)).toBeLessThan(200_000)
  })
})
