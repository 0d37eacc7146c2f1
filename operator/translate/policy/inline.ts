// Policies written into a backend itself, validated with the schema of their place, as those of a GwPolicy are. One
// payload; several denials become one.
import { API_VERSION } from '#api/group.ts'
import { isRecord } from '#api/json.ts'
import type { BackendPayload, Deny } from '#api/ir/types.gen.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import type { BackendFull } from '#api/v1alpha1/shared.gen.ts'
import { type Frame, isWithin, understoodPart } from '#api/validate/understood.ts'
import { UNKNOWN_NAME } from './expression.ts'
import { MALFORMED } from '../defects.ts'
import { reportOtherFaults } from './faults.ts'
import { emptyReport } from './field.ts'
import { BACKEND } from './registry.ts'
import { type FieldEmission, sectionFields, type SectionInput } from './section.ts'

const HARMLESS: ReadonlySet<string> = new Set([MALFORMED, UNKNOWN_NAME])

/** As users call it. */
const SECTION = 'policies'

/** Each place has its own set of fields. */
export type InlinePlace = 'backend' | 'ai' | 'mcp' | 'provider' | 'target'

const ADDRESS = { host: 'x', port: 1 }

const FRAMES: { readonly [P in InlinePlace]: Frame } = {
  backend: { around: (policies) => backend({ static: ADDRESS, policies }), at: 'spec.policies' },
  ai: { around: (policies) => backend({ ai: { provider: { p1: {} } }, policies }), at: 'spec.policies' },
  mcp: {
    around: (policies) => backend({ mcp: { targets: [{ name: 'x', static: ADDRESS }] }, policies }),
    at: 'spec.policies',
  },
  provider: {
    around: (policies) => backend({ ai: { groups: [{ providers: [{ name: 'x', p1: {}, policies }] }] } }),
    at: 'spec.ai.groups[0].providers[0].policies',
  },
  target: {
    around: (policies) => backend({ mcp: { targets: [{ name: 'x', static: { ...ADDRESS, policies } }] } }),
    at: 'spec.mcp.targets[0].static.policies',
  },
}

function backend(spec: object): object {
  return { apiVersion: API_VERSION, kind: 'GwBackend', metadata: { name: 'x', namespace: 'x' }, spec }
}

export function translateInline(
  policies: BackendFull | undefined,
  { path, place }: { readonly path: FieldPath; readonly place: InlinePlace },
  { scope, report, hasSoundPolicies }: Pick<SectionInput, 'scope' | 'report'> & { readonly hasSoundPolicies: boolean },
): BackendPayload | undefined {
  if (policies === undefined) return undefined
  const { object, ...faults } = hasSoundPolicies
    ? { object: policies, leftOut: [], kept: [] }
    : understoodPart(policies, FRAMES[place], path)
  const own = { ...report, problems: emptyReport().problems }
  const values = isRecord(object) ? object : {}
  const emissions = sectionFields<BackendPayload>(values, BACKEND, {
    scope,
    report: own,
    faults,
    name: SECTION,
    path,
    moment: 'backend',
  })
  const fields = Object.keys(BACKEND).map((name) => `${path}.${name}`)
  reportOtherFaults(faults, fields, own)
  const denied = emissions.filter(({ payload }) => payload.deny !== undefined).map(({ field }) => field)
  const refused = denied.map((field) => `${path}${field.slice(SECTION.length)}`)
  // The backend stays in use if only harmless fields are left out, or if expressions read unknown names. Policies that
  // are not an object may have contained anything.
  const isHarmless = (one: Problem): boolean =>
    isRecord(policies) && HARMLESS.has(one.reason) && !refused.some((field) => isWithin(one.path, field))
  report.problems.push(...own.problems.map((problem) => (isHarmless(problem) ? warning(problem) : problem)))
  return joinedPayload(emissions)
}

function warning(problem: Problem): Problem {
  return { ...problem, severity: 'warning' }
}

function joinedPayload(emissions: ReadonlyArray<FieldEmission<BackendPayload>>): BackendPayload | undefined {
  if (emissions.length === 0) return undefined
  const merged: BackendPayload = Object.assign({}, ...emissions.map(({ payload }) => payload))
  const denials = emissions.flatMap(({ payload }) => (payload.deny === undefined ? [] : [payload.deny]))
  return denials.length > 1 ? { ...merged, deny: joined(denials) } : merged
}

function joined(denials: readonly Deny[]): Deny {
  return {
    field: denials.map(({ field }) => field).join(', '),
    message: denials.map(({ message }) => message).join('\n'),
  }
}
