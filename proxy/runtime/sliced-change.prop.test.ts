// A change arrives as it was sent, in one message or in slices.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runAll } from '#api/incremental/steps.ts'
import { applyDelta, configDelta } from '#api/ir/config-delta.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { runs } from '#test/run/runs.ts'
import { slicedChange, wholeChange } from './sliced-change.ts'

const size = fc.constantFrom(0, 1, 100, 130, 600)
const binds = (count: number, port: number): { key: string; port: number }[] =>
  Array.from({ length: count }, (_, at) => ({ key: `b${at}`, port }))

it('brings all items, and only long lists in slices', () => {
  fc.assert(
    fc.property(size, size, size, fc.boolean(), (count, more, slots, hasEndpoints) => {
      const before = { ...emptyConfig(), binds: binds(count, 80) }
      const after = { ...before, binds: [...before.binds, ...binds(more, 81)], services: [], routes: [] }
      const places = Array.from({ length: slots }, (_, at) => [`key ${at}`, at % 7 === 0 ? undefined : at] as const)
      const change = {
        type: 'config' as const,
        generation: 1,
        delta: configDelta(before, after),
        secrets: undefined,
        rateLimits: { buffer: undefined, slots: hasEndpoints ? [] : places },
        endpoints: { buffer: undefined, slots: hasEndpoints ? places : [], workers: 1 },
      }
      const { message, transfer } = slicedChange(change)
      expect(transfer).toHaveLength(more + slots < 512 ? 0 : 1)
      const steps = wholeChange(message)
      expect(runAll(steps)).toEqual(change)
      expect(applyDelta(before, change.delta)).toEqual(after)
    }),
    { numRuns: runs(60) },
  )
})

it('takes one slice in a step', () => {
  const after = { ...emptyConfig(), binds: binds(1000, 80) }
  const change = {
    type: 'config' as const,
    generation: 1,
    delta: configDelta(emptyConfig(), after),
    secrets: undefined,
    rateLimits: { buffer: undefined, slots: [] },
    endpoints: { buffer: undefined, slots: [], workers: 1 },
  }
  const { message } = slicedChange(change)
  // The message itself is small.
  expect(JSON.stringify(message.delta).length).toBeLessThan(200)
  let steps = 0
  const whole = wholeChange(message)
  while (whole.next().done !== true) steps++
  expect(steps).toBe(8)
})
