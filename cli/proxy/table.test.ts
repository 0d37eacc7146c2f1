import { describe, expect, it } from 'vitest'
import { table } from './table.ts'

describe('table', () => {
  it('puts numbers at the right, and fills columns by their width in a terminal', () => {
    const rows = [
      ['日本', '10.0.0.1:80', '1204', '12.34ms'],
      ['web', '10.0.0.2:80', '3', ''],
    ]
    expect(table(['NAME', 'ENDPOINT', 'REQUESTS', 'LATENCY'], rows)).toBe(
      [
        'NAME  ENDPOINT     REQUESTS  LATENCY',
        '日本  10.0.0.1:80      1204  12.34ms',
        'web   10.0.0.2:80         3',
        '',
      ].join('\n'),
    )
  })

  it('keeps columns with words, and empty ones, at the left', () => {
    expect(
      table(
        ['HEALTH', 'RULE'],
        [
          ['1.00', ''],
          ['evicted', ''],
        ],
      ),
    ).toBe('HEALTH   RULE\n1.00\nevicted\n')
    expect(table(['A', 'B'], [])).toBe('A  B\n')
  })

  it('escapes control characters', () => {
    expect(table(['A'], [['\u001b[31m']])).toBe('A\n\\x1b[31m\n')
  })
})
