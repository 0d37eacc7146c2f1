import { expect, it } from 'vitest'
import { mergeInitialize } from './initialize.ts'

it.each([
  ['2025-11-25', ['2025-06-18', '2025-11-25'], '2025-06-18'],
  ['2025-03-26', ['2025-03-26', '2025-11-25'], '2025-03-26'],
  // Neither a version of the future nor one that never was.
  ['2099-01-01', ['2025-06-18', '2025-11-25'], '2025-06-18'],
  ['1999-01-01', ['2025-11-25', '2025-11-25'], '2025-11-25'],
  ['', ['1.0', undefined], '2025-11-25'],
])('a client that asks for %j of servers with %j gets %s', (askedVersion, versions, expected) => {
  const introductions = versions.map((protocolVersion, index) => ({ target: `t${index}`, result: { protocolVersion } }))
  expect(mergeInitialize(introductions, { askedVersion, isStateful: true })).toMatchObject({
    protocolVersion: expected,
  })
})
