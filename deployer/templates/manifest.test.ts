import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { manifest } from './manifest.ts'

const template = manifest<{ readonly text: unknown }>(`
a: {{yaml text}}
list:
  - {{yaml text}}
b: end
`)

it('keeps every text inside its scalar', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        '\n',
        '"',
        "'",
        ':',
        '{',
        '}',
        '-',
        ' ',
        '#',
        '\\',
        '\u2028',
        '\u0085',
        '\uFEFF',
        '\u007F',
        '\0',
        '\uE000',
        '0',
        'a',
      ),
    }),
  )
  const property = fc.property(text, (value) => {
    expect(template({ text: value })).toEqual({ a: value, list: [value], b: 'end' })
  })
  fc.assert(property, { numRuns: 300 })
})

it('keeps every value that JSON has', () => {
  const property = fc.property(fc.jsonValue(), (value) => {
    expect(JSON.stringify(template({ text: value }))).toBe(JSON.stringify({ a: value, list: [value], b: 'end' }))
  })
  fc.assert(property, { numRuns: 300 })
})

it('is used for every value of every base manifest', () => {
  const files = readdirSync(import.meta.dirname).filter((file) => !file.includes('.test.') && file !== 'manifest.ts')
  expect(files.length).toBeGreaterThan(4)
  for (const file of files) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    const marks = [...text.matchAll(/\{\{\{?([^}]*)\}\}/g)].map(([, mark = '']) => mark)
    expect([file, marks.filter((mark) => !/^(yaml [\w.]+|#if \w+|#each \w+|\/if|\/each)$/.test(mark))]).toEqual([
      file,
      [],
    ])
  }
})
