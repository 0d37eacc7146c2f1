// The difference that the page Configuration shows before it saves.
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
