// Filters of routes with values that the schema rejects, at each allowed place: the status has the path, and the proxy
// never gets the value. Filters that decide about access or the target reject requests; other rules are served.
// @module-tag full
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HTTPRouteFilter } from '#api/gateway/httproute.gen.ts'
import type { Route } from '#api/ir/types.gen.ts'
import { validateConfig } from '#api/ir/validate.ts'
import { applyDefaults, validateObject } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import type { Translation } from '#operator/translate/translation.ts'
import { readGolden } from '../golden.ts'
import { type Misfit, misfitsAt, type SettingPath, placesBelow, reports, withValue } from './misfits.ts'

const GOLDENS = join(import.meta.dirname, '..', '..', 'operator', 'translate', 'testdata')
const GATEWAY_API = 'gateway.networking.k8s.io'
const TRANSLATIONS_MS = 300_000
const HEADERS = { set: [{ name: 'x-a', value: 'a' }], add: [{ name: 'x-b', value: 'b' }], remove: ['x-c', 'x-d'] }
const WEB = { group: '', kind: 'Service', name: 'web', port: 80 }

type FilterType = Exclude<HTTPRouteFilter['type'], 'ExtensionRef'>

interface Case {
  /** Every field of it. */
  readonly filters: readonly object[]
  readonly isRefused: boolean
}

const FILTERS: { readonly [T in FilterType]: Case } = {
  CORS: {
    filters: [
      {
        cors: {
          allowOrigins: ['https://a.example'],
          allowMethods: ['GET'],
          allowHeaders: ['x-a'],
          exposeHeaders: ['x-b'],
          allowCredentials: true,
          maxAge: 60,
        },
      },
    ],
    isRefused: true,
  },
  ExternalAuth: {
    filters: [
      {
        externalAuth: {
          protocol: 'HTTP',
          backendRef: WEB,
          http: { path: '/check', allowedHeaders: ['x-a'], allowedResponseHeaders: ['x-b'] },
          forwardBody: { maxSize: 100 },
        },
      },
      { externalAuth: { protocol: 'GRPC', backendRef: WEB, grpc: { allowedHeaders: ['x-a'] } } },
    ],
    isRefused: true,
  },
  RequestHeaderModifier: { filters: [{ requestHeaderModifier: HEADERS }], isRefused: false },
  RequestMirror: {
    filters: [
      { requestMirror: { backendRef: WEB, percent: 5 } },
      { requestMirror: { backendRef: WEB, fraction: { numerator: 1, denominator: 3 } } },
    ],
    isRefused: false,
  },
  RequestRedirect: {
    filters: [
      {
        requestRedirect: {
          scheme: 'https',
          hostname: 'b.example',
          port: 443,
          statusCode: 301,
          path: { type: 'ReplaceFullPath', replaceFullPath: '/x' },
        },
      },
    ],
    isRefused: true,
  },
  ResponseHeaderModifier: { filters: [{ responseHeaderModifier: HEADERS }], isRefused: false },
  URLRewrite: {
    filters: [
      { urlRewrite: { hostname: 'b.example', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/x' } } },
      { urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/x' } } },
    ],
    isRefused: true,
  },
}

interface Spot {
  readonly kind: 'HTTPRoute' | 'GRPCRoute'
  readonly level: 'rule' | 'backendRef'
  readonly place: SettingPath
}

const SPOTS: readonly Spot[] = (['HTTPRoute', 'GRPCRoute'] as const).flatMap((kind) => [
  { kind, level: 'rule', place: ['rules', 0, 'filters', 0] },
  { kind, level: 'backendRef', place: ['rules', 0, 'backendRefs', 0, 'filters', 0] },
])

function routeWith(filter: object, { kind, level }: Spot): KubeObject {
  const matches =
    kind === 'HTTPRoute' ? [{ path: { type: 'PathPrefix', value: '/guarded' } }] : [{ method: { service: 's' } }]
  const filters = { filters: [filter] }
  const refs = level === 'backendRef' ? [{ ...WEB, ...filters }] : [WEB]
  // Rules with redirects have no backends.
  const backendRefs = 'requestRedirect' in filter && level === 'rule' ? [] : refs
  return {
    apiVersion: `${GATEWAY_API}/v1`,
    kind,
    metadata: { name: 'subject', namespace: 'shop', generation: 1 },
    spec: {
      parentRefs: [{ name: 'edge', namespace: 'infra' }],
      rules: [{ matches, ...(level === 'rule' && filters), backendRefs }, { backendRefs: [WEB] }],
    },
  } as unknown as KubeObject // on purpose not always of the right form
}

function translated(route: object): Translation {
  const defaults = readGolden(join(GOLDENS, '_defaults.yaml')).documents as KubeObject[] // by hand, as the goldens
  const objects = [...defaults, route as KubeObject].map((one) => applyDefaults(one)) // as above
  return translate(snapshotOf(objects), {
    controllerName: 'gw.dev/controller',
    className: 'gw',
    clusterDomain: 'cluster.local',
  })
}

function complaint(misfit: Misfit, route: object, isRefused: boolean): string | undefined {
  const translation = translated(withValue(route, ['spec', ...misfit.place], misfit.value))
  const reported = translation.problems.filter(({ object, path }) => object.name === 'subject' && reports(path, misfit))
  if (reported.length === 0) return 'silent'
  if (reported.some(({ path }) => !path.startsWith('spec.rules[0]'))) return 'does not name the path'
  const conditions = JSON.stringify(translation.statuses)
  if (!reported.every(({ message }) => conditions.includes(JSON.stringify(message).slice(1, -1))))
    return 'not in the status'
  const unreadable = [...translation.perGateway.values()].flatMap(({ config }) => validateConfig(config))
  if (unreadable.length > 0) return `the proxy gets ${unreadable.map(({ path }) => path).join(', ')}`
  const routes = [...translation.perGateway.values()].flatMap(({ config }) => config.routes)
  // A route with an unknown filter type is not served, because its effect is unknown.
  if (misfit.setting.endsWith('.filters.[]') || misfit.setting.endsWith('.type')) return undefined
  if (routes.length !== 2) return 'the other rule is not served'
  if (isRefused) return routes.every(isOpen) ? 'no denial' : undefined
  return routes.every(isOpen) ? undefined : openComplaint(misfit)
}

function isOpen({ inlinePolicies, backends }: Route): boolean {
  return inlinePolicies?.deny === undefined && backends.every((one) => one.inlinePolicies?.deny === undefined)
}

/** For headers and mirrors: requests may be rejected only if no part is valid. */
function openComplaint({ setting }: Misfit): string | undefined {
  return setting.endsWith('Modifier') ? undefined : 'rejected, although a part is valid'
}

describe.each(SPOTS)('a filter of a $level of a $kind with a value that the schema rejects', (spot) => {
  it.each(Object.entries(FILTERS))(
    '%s',
    // Each kind and each level once in `make test`.
    { timeout: TRANSLATIONS_MS, tags: (spot.kind === 'HTTPRoute') === (spot.level === 'rule') ? [] : ['full'] },
    (type, { filters, isRefused }) => {
      const complaints: string[] = []
      let tried = 0
      for (const settings of filters) {
        // A separate copy: a change at one place must not affect another one.
        const filter = { type, ...structuredClone(settings) }
        const route = routeWith(filter, spot)
        if (validateObject(route).problems.length > 0) continue
        expect(translated(route).problems.filter(({ object }) => object.name === 'subject').length).toBeLessThan(2)
        for (const placed of placesBelow(filter, spot.place)) {
          for (const misfit of misfitsAt(route, placed)) {
            tried++
            const wrong = complaint(misfit, route, isRefused)
            if (wrong !== undefined)
              complaints.push(`${misfit.path} ${JSON.stringify(misfit.value).slice(0, 40)}: ${wrong}`)
          }
        }
      }
      expect(complaints).toEqual([])
      // GRPCRoutes have only some of the filters.
      const isKnown = spot.kind === 'HTTPRoute' || /Header|Mirror/.test(type)
      expect(tried > 10).toBe(isKnown)
    },
  )
})
