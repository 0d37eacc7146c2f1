import { expect, it } from 'vitest'
import { servicePorts } from './service-ports.ts'

const named = (...ports: number[]): object[] => ports.map((port) => ({ name: `listener-${port}`, port }))

it.each<[string, number[], number, number[]]>([
  ['one port', [80], 443, [80]],
  ['many, sorted, each once', [8443, 80, 443, 80], 443, [80, 443, 8443]],
  ['without those of the proxy', [15_000, 15_020, 15_021, 80], 443, [80]],
  ['neighbours of those of the proxy', [14_999, 15_001, 15_022], 443, [14_999, 15_001, 15_022]],
  ['the lowest and the highest', [1, 65_535], 443, [1, 65_535]],
  ['nothing out of range', [0, 65_536, -1, 1.5, Number.NaN], 443, [443]],
  ['the dummy port when none is left', [15_020], 65_443, [65_443]],
  ['the dummy port when there is none', [], 443, [443]],
  ['nothing without a dummy port', [], 0, []],
  ['the dummy port only when needed', [80], 0, [80]],
])('takes %s', (_, ports, dummyPort, expected) => {
  expect(servicePorts(ports, dummyPort)).toEqual(named(...expected))
})

it('keeps names stable when ports come and go, and short', () => {
  const before = servicePorts([80, 65_535], 443)
  const after = servicePorts([65_535, 443], 443)
  expect(after.find(({ port }) => port === 65_535)).toEqual(before.find(({ port }) => port === 65_535))
  expect(before.every(({ name }) => name.length <= 15)).toBe(true)
})
