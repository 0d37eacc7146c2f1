// What is listed is there: a file that moved would lose its place in silence.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ALONE, FIRST, ISOLATED } from './order.ts'

const cwd = join(import.meta.dirname, '../..')

it('files that run alone are there', () => {
  expect(ALONE.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([])
})

it('files that come first are there', () => {
  expect(FIRST.filter((file) => !existsSync(join(cwd, file)))).toEqual([])
})

it('files that replace modules have a process of their own', () => {
  const files = globSync('{api,operator,deployer,proxy,cli,codegen,bench}/**/*.test.ts', { cwd })
  const replacing = files.filter((file) => /\bvi\.(do)?mock\(/i.test(readFileSync(join(cwd, file), 'utf8')))
  expect(replacing.toSorted()).toEqual(ISOLATED)
})
