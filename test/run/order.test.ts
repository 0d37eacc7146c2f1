// The listed files exist: otherwise a moved file would lose its place without an error.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { ALONE, FIRST, ISOLATED, isPure, OPERATOR, PURE } from './order.ts'

const cwd = join(import.meta.dirname, '../..')

it('files that run alone exist', () => {
  expect(ALONE.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([])
})

it('files that run first exist', () => {
  expect(FIRST.filter((file) => !existsSync(join(cwd, file)))).toEqual([])
})

it('files that replace modules have their own process', () => {
  const shared = (file: string): boolean => [...PURE, ...OPERATOR].some((pattern) => matchesGlob(file, pattern))
  const files = globSync('{api,operator,deployer,proxy,cli,codegen,bench}/**/*.test.ts', { cwd }).filter(shared)
  const replacing = files.filter((file) => /\bvi\.(do)?mock\(/i.test(readFileSync(join(cwd, file), 'utf8')))
  expect(replacing.toSorted()).toEqual(ISOLATED)
})

it.each([
  ['sums numbers', `import { add } from './add.ts'`, true],
  ['starts a process', `import { spawn } from 'node:child_process'`, false],
  ['opens a socket', 'server.listen(0)', false],
  ['changes the environment', `vi.stubEnv('HOME', '/')`, false],
  ['replaces timers', 'vi.useFakeTimers()', false],
  ['uses a helper of its folder with a socket', `import { start } from './server.testing.ts'`, false],
  ['uses a shared helper with a socket', `import { start } from '#test/server.ts'`, false],
  ['tests code with a socket', `import { start } from './server.ts'`, true],
])('a file that %s shares a process: %j is %s', (_, source, expected) => {
  const files: Readonly<Record<string, string>> = {
    'proxy/a/a.test.ts': source,
    'proxy/a/server.testing.ts': `import { createServer } from 'node:net'`,
    'test/server.ts': `import { createServer } from 'node:net'`,
  }
  expect(isPure('proxy/a/a.test.ts', (path) => files[path] ?? '')).toBe(expected)
})

it('files that run alone do not share processes', () => {
  const alone = new Set(ALONE.flatMap((pattern) => globSync(pattern, { cwd })))
  expect(PURE.filter((file) => alone.has(file))).toEqual([])
  expect(PURE).toContain('proxy/policy/browser/csrf.test.ts')
  expect(PURE).not.toContain('proxy/http/relay.test.ts')
})

it('files of the operator that replace timers or functions have a process of their own', () => {
  expect(OPERATOR).toContain('operator/controllers/operator.test.ts')
  expect(OPERATOR).not.toContain('operator/controllers/translation-loop.test.ts')
  expect(OPERATOR.filter((file) => PURE.includes(file) || ISOLATED.includes(file))).toEqual([])
})
