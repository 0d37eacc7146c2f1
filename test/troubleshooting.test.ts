// docs/troubleshooting.md covers every error of the proxy, and every reason of a status or Event.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FAILURES } from '#proxy/exchange/errors.ts'

const ROOT = join(import.meta.dirname, '..')
const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8')

const sources = globSync('{operator,deployer}/**/*.ts', { cwd: ROOT }).filter(
  (file) => !/\.(?:test|testing|gen)\.ts$|testdata/.test(file),
)
const reasons = new Set(
  sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\breason: '([A-Z]\w+)'/g)].map(([, reason = '']) => reason),
  ),
)

describe('docs/troubleshooting.md', () => {
  it.each(Object.keys(FAILURES))('covers the error %s', (code) => {
    expect(page).toContain(`\`${code}\``)
  })

  it.each([...reasons])('covers the reason %s', (reason) => {
    expect(page).toContain(`\`${reason}\``)
  })

  it('finds reasons in the sources', () => {
    expect(reasons.size).toBeGreaterThan(60)
  })
})
