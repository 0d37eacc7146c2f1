// Translates a filter that the CRD of this version would reject. A filter that decides about access or about the target
// of a request rejects the requests of its rule or backendRef; of a header filter the valid part applies; a mirror is
// left out.
import type { HTTPRouteFilter } from '#api/gateway/httproute.gen.ts'
import type { Deny } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import { isRecord } from '#api/json.ts'
import { understoodPart } from '#api/validate/understood.ts'
import { denyFaults, type Faults, faultsAt, hasFaults, reportKept, reportLeftOut } from '../policy/faults.ts'
import { emptyReport, type FailureMode, type FieldReport } from '../policy/field.ts'
import type { ReferenceSource } from '../service/reference.ts'
import type { RouteFault } from '../route-fault.ts'
import { framedRule, malformed, NOT_SERVED } from './judged-route.ts'

export interface JudgedFilter {
  /** undefined: it is not run. */
  readonly filter?: HTTPRouteFilter | undefined
  readonly deny?: Deny | undefined
  /** The route cannot be served. */
  readonly faults: readonly RouteFault[]
  readonly reported: readonly RouteFault[]
}

type FilterType = HTTPRouteFilter['type']

interface Judgement {
  readonly settings: keyof HTTPRouteFilter
  readonly failureMode: FailureMode
}

/** All other filters are rejected. */
const JUDGEMENTS: { readonly [T in Exclude<FilterType, 'ExtensionRef'>]: Judgement } = {
  CORS: { settings: 'cors', failureMode: 'deny' },
  ExternalAuth: { settings: 'externalAuth', failureMode: 'deny' },
  RequestHeaderModifier: { settings: 'requestHeaderModifier', failureMode: 'keep' },
  RequestMirror: { settings: 'requestMirror', failureMode: 'skip' },
  RequestRedirect: { settings: 'requestRedirect', failureMode: 'deny' },
  ResponseHeaderModifier: { settings: 'responseHeaderModifier', failureMode: 'keep' },
  URLRewrite: { settings: 'urlRewrite', failureMode: 'deny' },
}

const NOTHING_WRONG = { faults: [], reported: [] } as const

export interface PlacedFilter {
  readonly filter: HTTPRouteFilter
  readonly path: FieldPath
  readonly from: ReferenceSource
  /** Of all filters of the route. */
  readonly filterFaults: Faults
}

export function judgedFilter({ filter, path, from, filterFaults }: PlacedFilter): JudgedFilter {
  const here = faultsAt(path, filterFaults)
  if (!hasFaults(here)) return { filter, ...NOTHING_WRONG }
  const type: unknown = isRecord(filter) ? filter.type : undefined
  if (!isJudged(type)) {
    return { faults: [...here.leftOut, ...here.kept].map((one) => malformed(one, NOT_SERVED)), reported: [] }
  }
  const around = (part: unknown): object => framedRule(from.kind, { filters: [part] })
  const { object, ...own } = understoodPart(filter, { around, at: 'spec.rules[0].filters[0]' }, path)
  const { settings, failureMode } = JUDGEMENTS[type]
  const report = emptyReport()
  const context = { path, field: `filter ${type}`, report }
  const isEmpty = !isRecord(object) || !isRecord(object[settings])
  if (failureMode === 'deny' || (failureMode === 'keep' && isEmpty)) {
    return { deny: denyFaults(own, context).payload.deny, faults: [], reported: reportedFaults(report) }
  }
  reportLeftOut(own, context)
  reportKept(own, context)
  // The rest of a filter with a known type and its settings is a filter.
  return {
    ...(!isEmpty && { filter: object as unknown as HTTPRouteFilter }),
    faults: [],
    reported: reportedFaults(report),
  }
}

function isJudged(type: unknown): type is keyof typeof JUDGEMENTS {
  return typeof type === 'string' && Object.hasOwn(JUDGEMENTS, type)
}

function reportedFaults({ problems }: FieldReport): RouteFault[] {
  return problems.map(({ path, message }) => ({ path, reason: 'UnsupportedValue', message }))
}
