import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { differences } from './compare-report.ts'

const COMMITTED = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'conformance', 'v1.6.3.yaml'), 'utf8')

it('ignores the date and the version of the build', () => {
  const run = COMMITTED.replace(/^date: .*$/m, 'date: "2027-01-01T00:00:00Z"').replace(
    'version: v0.1.0',
    'version: v0.2.0',
  )
  expect(run).not.toBe(COMMITTED)
  expect(differences(COMMITTED, run)).toEqual([])
})

it.each([
  ['a test that fails', 'Failed: 0', 'Failed: 1', /Failed: committed 0, run 1/],
  ['a test that was not run', 'Passed: 36', 'Passed: 35', /Passed: committed 36, run 35/],
  ['a result', 'result: success', 'result: partial', /result: committed "success", run "partial"/],
  ['a feature that is claimed no more', '    - GatewayStaticAddresses\n', '', /GatewayStaticAddresses/],
  ['a profile', 'name: GATEWAY-TCP', 'name: GATEWAY-UDP', /GATEWAY-TCP/],
])('reports %s', (_name, from, to, expected) => {
  const run = COMMITTED.replace(from, to)
  expect(run).not.toBe(COMMITTED)
  expect(differences(COMMITTED, run).join('\n')).toMatch(expected)
})
