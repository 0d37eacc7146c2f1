// Runs every case of this folder: a sample, the way of `gw run`, a real proxy, real upstreams, real requests.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccepted } from './suite/accepted.ts'
import type { ConformanceCase } from './suite/case.ts'
import { applySample, SAMPLES } from './suite/gateway.ts'
import { startSampleProxy, type SampleProxy } from './suite/process.ts'
import { startUpstreams, type Upstreams } from './suite/upstreams.ts'

const features = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
const suites = await Promise.all(features.map(async (feature) => ({ feature, cases: await casesOf(feature) })))

async function casesOf(feature: string): Promise<readonly ConformanceCase[]> {
  const module: unknown = await import(/* @vite-ignore */ join(import.meta.dirname, `${feature}.ts`))
  if (typeof module !== 'object' || module === null || !('cases' in module) || !Array.isArray(module.cases)) {
    throw new Error(`test/conformance/${feature}.ts exports no cases`)
  }
  return module.cases as readonly ConformanceCase[] // each file declares them with this type
}

const folder = mkdtempSync(join(tmpdir(), 'gw-upstreams-'))
let upstreams: Upstreams
let proxy: SampleProxy

beforeAll(async () => {
  upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
  proxy = await startSampleProxy()
})

afterAll(async () => {
  await proxy.stop()
  await upstreams.stop()
  rmSync(folder, { recursive: true })
})

describe.each(suites)('$feature', ({ cases }) => {
  it.each(cases)('$shortName: $description', async ({ sample, change, run }) => {
    expect.hasAssertions()
    const gateway = await applySample({ sample, upstreams, on: proxy, change })
    if (change === undefined) await expectAccepted(gateway)
    await run(gateway)
  })
})

describe('samples', () => {
  const unchanged = suites.flatMap(({ cases }) => cases.filter(({ change }) => change === undefined))

  it('every sample is run as it is by some case', () => {
    const samples = readdirSync(SAMPLES).filter((file) => file.endsWith('.yaml'))
    const run = new Set(unchanged.map(({ sample }) => sample))
    expect(samples.filter((sample) => !run.has(sample))).toEqual([])
    expect([...run].filter((sample) => !existsSync(join(SAMPLES, sample)))).toEqual([])
  })

  it('short names are unique within a feature', () => {
    for (const { feature, cases } of suites) {
      expect(new Set(cases.map(({ shortName }) => shortName)).size, `cases of ${feature}`).toBe(cases.length)
    }
  })
})
