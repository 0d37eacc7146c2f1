import { describe, expect, it } from 'vitest'
import { OverloadDetector, type OverloadSample } from './overload.ts'

const CALM: OverloadSample = { lagMs: 0, memoryShare: 0.1 }

function run(detector: OverloadDetector, ...samples: readonly Partial<OverloadSample>[]): (string | undefined)[] {
  return samples.map((sample) => detector.sample({ ...CALM, ...sample }))
}

const times = (count: number, sample: Partial<OverloadSample>) => Array.from({ length: count }, () => sample)
const detector = () => new OverloadDetector({ lagMs: 100, memoryShare: 0.9 })
const late = { lagMs: 100 }

describe('lag', () => {
  it('counts only when it lasts', () => {
    expect(run(detector(), late, late, {}, late, late, { lagMs: 99 }, late, late)).toEqual(Array(8).fill(undefined))
    expect(run(detector(), late, late, late)).toEqual([undefined, undefined, 'lag'])
  })

  it('goes off below half of the limit, after four samples in a row', () => {
    const one = detector()
    run(one, late, late, late)
    expect(run(one, {}, {}, {}, { lagMs: 50 }, {}, {}, {})).toEqual(Array(7).fill('lag'))
    expect(run(one, { lagMs: 49 })).toEqual([undefined])
  })
})

describe('memory', () => {
  it('counts at once, and goes off below nine tenths of the limit', () => {
    const one = detector()
    expect(run(one, { memoryShare: 0.899 }, { memoryShare: 0.9 })).toEqual([undefined, 'memory'])
    expect(run(one, ...times(9, { memoryShare: 0.82 }))).toEqual(Array(9).fill('memory'))
    expect(run(one, ...times(4, { memoryShare: 0.8 }))).toEqual(['memory', 'memory', 'memory', undefined])
  })
})

it('nothing is looked at without a limit', () => {
  const one = new OverloadDetector({ lagMs: 0, memoryShare: 0 })
  expect(run(one, ...times(9, { lagMs: 60_000, memoryShare: 1 }))).toEqual(Array(9).fill(undefined))
})
