// Data that commands print: exact, and without control characters for the terminal.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { printableLines } from '#api/printable.ts'
import { dataText } from './output.ts'

const HOSTILE = 'a\u001b[2J\u009b\u202e\u2028\u200b\u{e0041}\nb: c\r'

describe('dataText', () => {
  it.each(['json', 'yaml'] as const)('shows hostile texts escaped, and keeps them exact, as %s', (output) => {
    const value = { [HOSTILE]: [HOSTILE, { key: HOSTILE }], plain: 'a: b\nsecond line\n', number: 1, none: null }
    const text = dataText(value, output)
    expect(printableLines(text)).toBe(text)
    expect(output === 'json' ? JSON.parse(text) : parse(text)).toEqual(value)
  })

  it.each(['json', 'yaml'] as const)('keeps any value exact, as %s', (output) => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 3 }), (texts) => {
        const text = dataText({ texts }, output)
        expect(printableLines(text)).toBe(text)
        expect(output === 'json' ? JSON.parse(text) : parse(text)).toEqual({ texts })
      }),
      { numRuns: 200 },
    )
  })
})
