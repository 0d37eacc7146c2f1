import { describe, expect, it } from 'vitest'
import { ANCESTORS_MAX, fittingAncestors, policyStatus, type PolicyStatusInput } from './policy-status.ts'

const ATTACHED = { policies: [1], lost: [] }

function input(gateways: number, unattached: readonly string[] = []): PolicyStatusInput {
  const keys = Array.from({ length: gateways }, (_, index) => `infra/g${String(index).padStart(2, '0')}`)
  return {
    controllerName: 'gw.dev/controller',
    generation: 3,
    problems: [],
    hasEmissions: true,
    perGateway: new Map(keys.map((key) => [key, ATTACHED])),
    unattached: unattached.map((message) => ({ message })),
  }
}

function types(status: ReturnType<typeof policyStatus>): string[] {
  return status.ancestors.map(
    ({ ancestorRef, conditions }) => `${ancestorRef.name} ${conditions.map(({ type }) => type).join()}`,
  )
}

describe('policyStatus', () => {
  it('lists as many Gateways as fit', () => {
    expect(policyStatus(input(ANCESTORS_MAX)).ancestors).toHaveLength(ANCESTORS_MAX)
    expect(types(policyStatus(input(1)))).toEqual(['g00 Accepted,Attached'])
    expect(policyStatus(input(0)).ancestors).toEqual([])
  })

  it('summarises one Gateway too many', () => {
    const lines = types(policyStatus(input(ANCESTORS_MAX + 1)))
    expect(lines).toHaveLength(ANCESTORS_MAX)
    expect(lines.at(-1)).toBe('StatusSummary Accepted,StatusSummarized')
  })

  it('counts the summary of missing targets as an entry', () => {
    expect(types(policyStatus(input(ANCESTORS_MAX - 1, ['Gateway a/b not found']))).at(-1)).toBe(
      'StatusSummary Accepted,Attached',
    )
    const full = types(policyStatus(input(ANCESTORS_MAX, ['Gateway a/b not found'])))
    expect(full).toHaveLength(ANCESTORS_MAX)
    expect(full.at(-1)).toBe('StatusSummary Accepted,Attached,StatusSummarized')
  })

  it('leaves the summary where others take places, and counts what it drops', () => {
    const fitted = (gateways: number, room: number, unattached: readonly string[] = []): string[] =>
      fittingAncestors(policyStatus(input(gateways, unattached)).ancestors, room).map(
        ({ ancestorRef, conditions }) =>
          `${ancestorRef.name} ${conditions.map(({ type, message }) => type + (/^\d+/.exec(message)?.[0] ?? '')).join()}`,
      )
    expect(fitted(3, 3)).toHaveLength(3)
    expect(fitted(3, 2)).toEqual(['g00 Accepted,Attached', 'StatusSummary Accepted,StatusSummarized2'])
    expect(fitted(3, 0)).toEqual([])
    expect(fitted(20, 1)).toEqual(['StatusSummary Accepted,StatusSummarized20'])
    expect(fitted(20, 3, ['x']).at(-1)).toBe('StatusSummary Accepted,Attached,StatusSummarized18')
    expect(fitted(2, 2, ['x'])).toEqual(['g00 Accepted,Attached', 'StatusSummary Accepted,Attached,StatusSummarized1'])
  })

  it('sorts Gateways and carries the generation', () => {
    const status = policyStatus({
      ...input(0),
      perGateway: new Map([
        ['b/x', ATTACHED],
        ['a/y', ATTACHED],
      ]),
    })
    expect(status.ancestors.map(({ ancestorRef }) => ancestorRef.namespace)).toEqual(['a', 'b'])
    expect(status.ancestors[0]?.conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([3, 3])
  })
})
