import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable, printableJson, printableLines } from './printable.ts'

const ROWS: readonly (readonly [string, string, string])[] = [
  ['plain text', 'Zürich ελ 東京 😀 a\\b', 'Zürich ελ 東京 😀 a\\b'],
  ['colours and cleared screens', '\u001b[31m\u001b[2Jx', '\\x1b[31m\\x1b[2Jx'],
  ['line ends', 'a\nb\r\nc\td', 'a\\nb\\r\\nc\\td'],
  ['NUL, BEL, backspace, DEL', '\u0000\u0007\b\u007f', '\\x00\\x07\\x08\\x7f'],
  ['C1 controls, such as CSI in one character', '\u009b31m\u0085', '\\x9b31m\\x85'],
  [
    'overrides and isolates of direction',
    '\u202egpj.exe\u2066\u2069\u200f\u061c',
    '\\u202egpj.exe\\u2066\\u2069\\u200f\\u061c',
  ],
  ['separators of lines and paragraphs', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['characters without width', 'pay\u200bpal\u00ad\ufeff', 'pay\\u200bpal\\xad\\ufeff'],
  ['tags', 'x\u{e0041}', 'x\\u{e0041}'],
  ['half a pair', 'a\ud800b', 'a\\ud800b'],
]

describe('printable', () => {
  it.each(ROWS)('%s', (_title, text, expected) => {
    expect(printable(text)).toBe(expected)
    expect(printable(printable(text))).toBe(expected)
  })

  it('keeps line ends of texts with lines, and nothing else', () => {
    expect(printableLines('a\nb\r\u001b[0m')).toBe('a\nb\\r\\x1b[0m')
  })

  it('keeps the value of JSON exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constantFrom(0, 2), (value, text, indent) => {
        const mixed = [value, text, { [text]: ROWS.map(([, raw]) => raw) }]
        const json = printableJson(JSON.stringify(mixed, null, indent))
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(mixed)))
        expect(printable(json.replaceAll('\n', ''))).toBe(json.replaceAll('\n', ''))
      }),
    )
  })
})
