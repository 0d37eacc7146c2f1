import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadFixtureFile } from './testdata.testing.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-testdata-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

function load(text: string) {
  const file = join(folder, 'feature.yaml')
  writeFileSync(file, text)
  return loadFixtureFile(file, 'kind')
}

describe('loadFixtureFile', () => {
  it('writes out repeated texts and numbered lists', () => {
    const [fixture] = load(`
      cases:
        - name: long
          valid: true
          object:
            text: { $repeat: ab, times: 3 }
            none: { $repeat: a, times: 0 }
            list: { $items: { name: 'n\${i}', 'key\${i}': { $repeat: x, times: 2 } }, times: 2 }`)
    expect(fixture).toEqual({
      kind: 'kind',
      title: 'feature: long',
      object: {
        text: 'ababab',
        none: '',
        list: [
          { name: 'n0', key0: 'xx' },
          { name: 'n1', key1: 'xx' },
        ],
      },
      oldObject: undefined,
      error: undefined,
    })
  })

  it.each([
    ['no list', 'other: 1', 'no list "cases"'],
    ['no name', 'cases: [{ valid: true, object: {} }]', 'needs name and valid'],
    [
      'an error of a valid case',
      'cases: [{ name: a, valid: true, object: {}, error: { path: a, message: b } }]',
      'exactly when',
    ],
    ['an invalid case without error', 'cases: [{ name: a, valid: false, object: {} }]', 'exactly when'],
    [
      'an error without a path',
      'cases: [{ name: a, valid: false, object: {}, error: { message: b } }]',
      'needs path, message',
    ],
    ['too much', 'cases: [{ name: a, valid: true, object: { $repeat: a, times: 1000000 } }]', 'times must be'],
  ])('refuses %s', (_, text, message) => {
    expect(() => load(text)).toThrow(message)
  })
})
