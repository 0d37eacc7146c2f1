// Runs cases: a sample, a real `gw run`, real upstreams, real requests. One process and one set of upstreams serve all
// cases of a test file.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccepted } from './accepted.ts'
import type { ConformanceCase } from './case.ts'
import { applySample } from './gateway.ts'
import { startSampleProxy, type SampleProxy } from './process.ts'
import { startUpstreams, type Upstreams } from './upstreams.ts'

export interface Feature {
  readonly feature: string
  readonly cases: readonly ConformanceCase[]
}

/** Test files that share the features, so that they run in parallel. */
const SHARDS = 2
const CASES = join(import.meta.dirname, '..')

const names = readdirSync(CASES)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length))

/** Every feature, by its file in test/conformance. */
export function allFeatures(): Promise<readonly Feature[]> {
  return Promise.all(names.map(featureOf))
}

async function featureOf(feature: string): Promise<Feature> {
  const module: unknown = await import(/* @vite-ignore */ join(CASES, `${feature}.ts`))
  if (typeof module !== 'object' || module === null || !('cases' in module) || !Array.isArray(module.cases)) {
    throw new Error(`test/conformance/${feature}.ts exports no cases`)
  }
  return { feature, cases: module.cases as readonly ConformanceCase[] } // each file declares them with this type
}

/** Declares the tests of the features of this shard, `shard` from 0. `make test` runs the first case of each. */
export async function describeCases(shard: number): Promise<void> {
  const features = await Promise.all(names.filter((_, at) => at % SHARDS === shard).map(featureOf))
  let folder: string
  let upstreams: Upstreams
  let proxy: SampleProxy

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gw-upstreams-'))
    upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
    proxy = await startSampleProxy()
  })

  afterAll(async () => {
    await proxy.stop()
    await upstreams.stop()
    rmSync(folder, { recursive: true })
  })

  describe.each(features)('$feature', ({ cases }) => {
    for (const [at, { shortName, description, sample, change, run }] of cases.entries()) {
      it(`${shortName}: ${description}`, { tags: at === 0 ? [] : ['full'] }, async () => {
        expect.hasAssertions()
        const gateway = await applySample({ sample, upstreams, on: proxy, change })
        if (change === undefined) await expectAccepted(gateway)
        await run(gateway)
      })
    }
  })
}
