// Every sample has a case, and every case has a unique name.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SAMPLES } from './suite/gateway.ts'
import { allFeatures } from './suite/run-cases.ts'

const features = await allFeatures()

it('every sample has a case that runs it unchanged', () => {
  const unchanged = features.flatMap(({ cases }) => cases.filter(({ change }) => change === undefined))
  const samples = readdirSync(SAMPLES).filter((file) => file.endsWith('.yaml'))
  const run = new Set(unchanged.map(({ sample }) => sample))
  expect(samples.filter((sample) => !run.has(sample))).toEqual([])
  expect([...run].filter((sample) => !existsSync(join(SAMPLES, sample)))).toEqual([])
})

it('short names are unique within a feature', () => {
  for (const { feature, cases } of features) {
    expect(new Set(cases.map(({ shortName }) => shortName)).size, `cases of ${feature}`).toBe(cases.length)
  }
})
