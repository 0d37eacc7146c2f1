// A replaced file: whole, with its mode, behind its link; nothing is left behind.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { lstatSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { replaceFile } from './replace-file.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-replace-'))
  file = join(folder, 'gw.yaml')
  writeFileSync(file, 'old')
  chmodSync(file, 0o640)
})

afterEach(() => rmSync(folder, { recursive: true }))

it('keeps the mode', () => {
  expect(replaceFile(file, 'new', () => true)).toBe(true)
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o640])
  expect(readdirSync(folder)).toEqual(['gw.yaml'])
})

it('replaces the file that a link names', () => {
  const link = join(folder, 'link.yaml')
  symlinkSync('gw.yaml', link)
  replaceFile(link, 'new', () => true)
  expect([lstatSync(link).isSymbolicLink(), readFileSync(file, 'utf8')]).toEqual([true, 'new'])
})

it('changes nothing if the file is not the expected one any more, or cannot be written', () => {
  expect(replaceFile(file, 'new', () => false)).toBe(false)
  expect(() => replaceFile(join(folder, 'absent'), 'new', () => true)).toThrow('ENOENT')
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['old', ['gw.yaml']])
})
