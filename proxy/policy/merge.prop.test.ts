// Merging returns the same as a model written from the text of the specification, for random sets of policies.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BackendPayload, Policy, PolicyTarget, TrafficPayload } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { indexPolicies } from './policy-index.ts'
import { effectiveBackend, overlaySection } from './merge-backend.ts'
import { effectiveTraffic, type RouteLevel } from './merge.ts'

const NS = 'ns'

/** All targets of a policy here, least specific first; the others must never apply. */
const GATEWAY: PolicyTarget[] = [
  { gateway: { namespace: NS, name: 'gw' } },
  { gateway: { namespace: NS, name: 'gw', port: 80 } },
]
const OWN_LISTENER: PolicyTarget[] = [{ gateway: { namespace: NS, name: 'gw', listener: 'l' } }]
const SET_LISTENER: PolicyTarget[] = [
  { listenerSet: { namespace: NS, name: 'set' } },
  { listenerSet: { namespace: NS, name: 'set', section: 'l' } },
]
const routeTargets = (name: string): PolicyTarget[] => [
  { route: { kind: 'HTTPRoute', namespace: NS, name } },
  { route: { kind: 'HTTPRoute', namespace: NS, name, ruleName: 'rule' } },
]
const SERVICE: PolicyTarget[] = [
  { service: { namespace: NS, hostname: 'svc' } },
  { service: { namespace: NS, hostname: 'svc', port: 80 } },
]
const BACKEND: PolicyTarget[] = [{ backend: { namespace: NS, name: 'be' } }]
const SECTION: PolicyTarget[] = [{ backend: { namespace: NS, name: 'be', section: 'sec' } }]
const FOREIGN: PolicyTarget[] = [
  { gateway: { namespace: 'other', name: 'gw' } },
  { gateway: { namespace: NS, name: 'gw', port: 81 } },
  { gateway: { namespace: NS, name: 'gw', listener: 'm' } },
  { listenerSet: { namespace: NS, name: 'set', section: 'm' } },
  { route: { kind: 'GRPCRoute', namespace: NS, name: 'parent' } },
  { route: { kind: 'HTTPRoute', namespace: NS, name: 'parent', ruleName: 'm' } },
  { service: { namespace: NS, hostname: 'svc', port: 81 } },
  { backend: { namespace: NS, name: 'be', section: 'm' } },
]
const ALL = [
  ...GATEWAY,
  ...OWN_LISTENER,
  ...SET_LISTENER,
  ...routeTargets('parent'),
  ...routeTargets('child'),
  ...SERVICE,
  ...BACKEND,
  ...SECTION,
  ...FOREIGN,
]

const mark = fc.integer({ min: 1, max: 1_000_000 })
const trafficPayload: fc.Arbitrary<TrafficPayload> = fc.oneof(
  mark.map((requestMs) => ({ timeouts: { requestMs } })),
  mark.map((maxAgeSeconds) => ({ cors: { maxAgeSeconds } })),
  mark.map((id) => ({ authorization: { action: 'Allow' as const, matchExpressions: [String(id)] } })),
  mark.map((id) => ({ deny: { field: 'f', message: String(id) } })),
)
const backendPayload: fc.Arbitrary<BackendPayload> = fc.oneof(
  mark.map((requestTimeoutMs) => ({ http: { requestTimeoutMs } })),
  mark.map((connectTimeoutMs) => ({ tcp: { connectTimeoutMs } })),
  mark.map((id) => ({ mcpAuthorization: { action: 'Allow' as const, matchExpressions: [String(id)] } })),
  mark.map((id) => ({ ai: { modelAliases: { a: String(id) } } })),
  mark.map((id) => ({ ai: { routes: {}, overrides: [{ field: String(id), value: {} }] } })),
  mark.map((id) => ({ deny: { field: 'f', message: String(id) } })),
)
const common = { target: fc.constantFrom(...ALL), number: mark }
const policies: fc.Arbitrary<Policy[]> = fc
  .array(
    fc.oneof(
      fc.record({
        ...common,
        traffic: trafficPayload,
        phase: fc.constantFrom(undefined, 'PreRouting', 'PostRouting'),
        inheritance: fc.constantFrom(undefined, 'Override'),
      }),
      fc.record({ ...common, backend: backendPayload }),
    ),
    { maxLength: 60 },
  )
  .map((list) => list.map((policy, i) => policyOf(policy, i)))

interface Drawn {
  target: PolicyTarget
  traffic?: TrafficPayload
  backend?: BackendPayload
  phase?: 'PreRouting' | 'PostRouting' | undefined
  inheritance?: 'Override' | undefined
}

function policyOf({ target, traffic, backend, phase, inheritance }: Drawn, i: number): Policy {
  return {
    key: `k${i}`,
    name: { kind: 'GwPolicy', namespace: NS, name: `p${i}` },
    target,
    ...(phase === undefined ? {} : { phase }),
    ...(inheritance === undefined ? {} : { inheritance }),
    policy: { ...(traffic && { traffic }), ...(backend && { backend }) },
  }
}

function route(name: string, inlinePolicies: TrafficPayload | undefined): RouteLevel {
  return {
    key: name,
    name: { kind: 'HTTPRoute', namespace: NS, name, ruleName: 'rule' },
    ...(inlinePolicies === undefined ? {} : { inlinePolicies }),
  }
}

interface Candidate {
  readonly payload: TrafficPayload
  readonly source: string
  readonly isOverride: boolean
}

/** Policies of each level in the order of the configuration, least specific level first. */
function candidates(list: readonly Policy[], levels: readonly PolicyTarget[], isPreRouting: boolean): Candidate[][] {
  return levels.map((level) =>
    list
      .filter(({ target, policy, phase }) => {
        const isSameLevel = JSON.stringify(target) === JSON.stringify(level)
        return isSameLevel && policy.traffic !== undefined && (phase === 'PreRouting') === isPreRouting
      })
      .map(({ policy, key, inheritance }) => ({
        payload: policy.traffic ?? {},
        source: key,
        isOverride: inheritance === 'Override',
      })),
  )
}

/** "Override: the earlier (less specific) wins"; without one the most specific does; on one target the first. */
function winner(levels: readonly Candidate[][], field: 'timeouts' | 'cors', hasOverride: boolean): unknown {
  const perLevel = levels.flatMap((level) => level.find(({ payload }) => payload[field] !== undefined) ?? [])
  const chosen = (hasOverride ? perLevel.find(({ isOverride }) => isOverride) : undefined) ?? perLevel.at(-1)
  return chosen === undefined ? undefined : { value: chosen.payload[field], source: chosen.source }
}

/** "All levels accumulate … once an Override policy was added, later rule sets are not." */
function rules(levels: readonly Candidate[][], hasOverride: boolean): unknown[] {
  const found: unknown[] = []
  for (const level of levels) {
    const own = level.filter(({ payload }) => payload.authorization !== undefined)
    found.push(...own.map(({ payload, source }) => ({ value: payload.authorization, source })))
    if (hasOverride && own.some(({ isOverride }) => isOverride)) break
  }
  return found
}

function denials(levels: readonly Candidate[][]): unknown[] {
  return levels.flat().flatMap(({ payload, source }) => (payload.deny ? [{ value: payload.deny, source }] : []))
}

function model(levels: readonly Candidate[][], hasOverride: boolean): unknown {
  return {
    timeouts: winner(levels, 'timeouts', hasOverride),
    cors: winner(levels, 'cors', hasOverride),
    authorization: rules(levels, hasOverride),
    deny: denials(levels),
  }
}

const inlineTraffic = fc.option(trafficPayload, { nil: undefined })

it('merges traffic like the model', () => {
  fc.assert(
    fc.property(policies, fc.boolean(), inlineTraffic, inlineTraffic, (list, isSet, onParent, onChild) => {
      const listenerSet = isSet ? { namespace: NS, name: 'set' } : undefined
      const merged = effectiveTraffic(indexPolicies(list), {
        gateway: { namespace: NS, name: 'gw' },
        port: 80,
        listenerSet,
        listener: 'l',
        routes: [route('parent', onParent), route('child', onChild)],
      })
      const listener = [...GATEWAY, ...(isSet ? SET_LISTENER : OWN_LISTENER)]
      const inline = (payload: TrafficPayload | undefined, source: string): Candidate[][] => [
        [{ payload: payload ?? {}, source, isOverride: false }],
      ]
      const post = [
        ...candidates(list, [...listener, ...routeTargets('parent')], false),
        ...inline(onParent, 'route/parent'),
        ...candidates(list, routeTargets('child'), false),
        ...inline(onChild, 'route/child'),
      ]
      expect(merged.postRouting).toEqual(model(post, true))
      expect(merged.preRouting).toEqual(model(candidates(list, listener, true), false))
    }),
    { numRuns: runs(1000) },
  )
})

/** Field by field and for `ai` sub-field by sub-field: the last payload that sets it. */
function backendModel(payloads: readonly BackendPayload[]): unknown {
  const last = (field: 'http' | 'tcp'): unknown => payloads.findLast((payload) => payload[field] !== undefined)?.[field]
  const ai = Object.assign({}, ...payloads.map((payload) => payload.ai ?? {})) as object
  return {
    http: last('http'),
    tcp: last('tcp'),
    ai: payloads.some((payload) => payload.ai !== undefined) ? ai : undefined,
  }
}

const byText = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).sort()

/** The rest to compare if the order of rules, and which of several denials is used, do not matter. */
function summary({ mcpAuthorization, deny, ...fields }: EffectiveBackend): unknown {
  return [fields, byText(mcpAuthorization), deny !== undefined]
}

function summaryModel(payloads: readonly BackendPayload[]): unknown {
  return [
    backendModel(payloads),
    byText(payloads.flatMap((payload) => payload.mcpAuthorization ?? [])),
    payloads.some((payload) => payload.deny !== undefined),
  ]
}

const inlineBackend = fc.option(backendPayload, { nil: undefined })

it('merges backend policies like the model', () => {
  fc.assert(
    fc.property(policies, inlineBackend, inlineBackend, inlineBackend, (list, onBackend, onRef, onSection) => {
      const index = indexPolicies(list)
      const place = {
        gateway: { namespace: NS, name: 'gw' },
        port: 80,
        listener: 'l',
        routes: [route('parent', undefined), route('child', undefined)],
        service: { namespace: NS, hostname: 'svc', port: 80 },
        backend: { name: { namespace: NS, name: 'be' }, inlinePolicies: onBackend },
        refInlinePolicies: onRef,
      }
      /** For one target the first policy wins, so it comes last here. */
      const attached = (levels: readonly PolicyTarget[]): BackendPayload[] =>
        levels.flatMap((level) =>
          list
            .filter(({ target }) => JSON.stringify(target) === JSON.stringify(level))
            .flatMap(({ policy }) => policy.backend ?? [])
            .reverse(),
        )
      const payloads = [
        ...attached([...GATEWAY, ...OWN_LISTENER, ...routeTargets('parent'), ...routeTargets('child')]),
        ...attached([...SERVICE, ...BACKEND]),
        ...(onBackend ? [onBackend] : []),
        ...(onRef ? [onRef] : []),
      ]
      const merged = effectiveBackend(index, place)
      expect(summary(merged)).toEqual(summaryModel(payloads))
      const section = { backend: { namespace: NS, name: 'be' }, section: 'sec', inlinePolicies: onSection }
      const withSection = [...payloads, ...attached(SECTION), ...(onSection ? [onSection] : [])]
      expect(summary(overlaySection(index, merged, section))).toEqual(summaryModel(withSection))
    }),
    { numRuns: runs(1000) },
  )
})
