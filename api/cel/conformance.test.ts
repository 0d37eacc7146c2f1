// The public conformance cases: the set of failing ones is exactly the committed list, so that a step back and a step
// forward both show. After a change: `node api/cel/conformance-report.ts`.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { conformanceCases } from './conformance/cases.ts'
import { runConformance } from './conformance/run.ts'

describe('conformance', () => {
  it('fails exactly the known cases', () => {
    const known: unknown = JSON.parse(readFileSync(new URL('conformance-known.json', import.meta.url), 'utf8'))
    expect([...runConformance().failures.keys()]).toEqual(known)
  })

  it('runs most of the suite', () => {
    const { cases } = conformanceCases()
    expect(cases.length).toBeGreaterThan(1500)
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  })
})
