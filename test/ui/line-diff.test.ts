// The difference that the page Configuration shows before it saves.
import { array, assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { lineDiff } from '../../ui/line-diff.ts'

const SIGNS = { added: '+', removed: '-', same: ' ', 'left out': '…' } as const

function shown(before: string, after: string): string[] {
  return lineDiff(before, after).map(({ kind, text }) => `${SIGNS[kind]}${text}`)
}

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index}`)

it.each([
  ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
  ['a\nb', 'a\nb\nc', [' a', ' b', '+c']],
  ['a\nb\nc', 'c', ['-a', '-b', ' c']],
  ['a\nb\nc\nd', 'b\nc\na\nd', ['-a', ' b', ' c', '+a', ' d']],
  ['', 'a', ['-', '+a']],
  ['a', 'a', ['…1 lines without a change']],
])('of %j and %j', (before, after, expected) => expect(shown(before, after)).toEqual(expected))

it('leaves out lines that are far from a change', () => {
  const after = LINES.with(10, 'other')
  expect(shown(LINES.join('\n'), after.join('\n'))).toEqual([
    '…7 lines without a change',
    ' line 7',
    ' line 8',
    ' line 9',
    '-line 10',
    '+other',
    ' line 11',
    ' line 12',
    ' line 13',
    '…6 lines without a change',
  ])
})

it('shows changes of thousands of lines as a whole', () => {
  const many = (prefix: string): string => Array.from({ length: 3000 }, (_, index) => `${prefix} ${index}`).join('\n')
  expect(lineDiff(many('a'), many('b'))).toHaveLength(6000)
})

it('shows each of thousands of changes beside its lines', () => {
  const text = (value: string): string =>
    Array.from({ length: 3000 }, (_, index) => `route ${index}\nvalue: ${value}`).join('\n')
  const lines = lineDiff(text('a'), text('b'))
  expect(lines).toHaveLength(9000)
  expect(lines.slice(3, 6).map(({ kind, text: line }) => `${kind} ${line}`)).toEqual([
    'same route 1',
    'removed value: a',
    'added value: b',
  ])
})

it('of any two long texts leads from one to the other', () => {
  const words = array(integer({ min: 0, max: 3000 }), { minLength: 2100, maxLength: 2400 })
  assert(
    property(words, words, (one, other) => {
      const lines = lineDiff(one.join('\n'), other.join('\n'))
      const side = (left: string) => lines.filter(({ kind }) => kind !== left && kind !== 'left out')
      const [before, after] = [side('added'), side('removed')].map((list) => list.map(({ text }) => text))
      const isPart = (part: readonly string[] = [], whole: readonly number[] = []): boolean => {
        let at = 0
        for (const line of whole) if (part[at] === String(line)) at++
        return at === part.length
      }
      expect([isPart(before, one), isPart(after, other)]).toEqual([true, true])
      const isWhole = !lines.some(({ kind }) => kind === 'left out')
      if (isWhole) expect([before, after]).toEqual([one.map(String), other.map(String)])
    }),
    { numRuns: 20 },
  )
})
