// What is listed is there: a file that moved would lose its place in silence.
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ALONE, FIRST } from './order.ts'

const cwd = join(import.meta.dirname, '../..')

it('files that run alone are there', () => {
  expect(ALONE.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([])
})

it('files that come first are there', () => {
  expect(FIRST.filter((file) => !existsSync(join(cwd, file)))).toEqual([])
})
