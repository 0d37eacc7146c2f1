// GRPCRoute: host names and the filters of rules and backendRefs, with calls of @grpc/grpc-js.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { grpcCall } from './suite/grpc-echo.ts'
import { adding, localService } from './suite/services.ts'

const SAMPLE = 'mirror.yaml'
const SHOP = 'shop.example.com'
const OK = 0
const UNIMPLEMENTED = 12
const CALLS = 5

const ref = (name: string) => ({ group: 'gw.dev', kind: 'GwBackend', name })

const HEADERS = {
  set: [{ name: 'x-set', value: 'set' }],
  add: [{ name: 'x-add', value: 'added' }],
  remove: ['x-gone', 'x-powered-by'],
}
const HEADER_FILTERS = [
  { type: 'RequestHeaderModifier', requestHeaderModifier: HEADERS },
  { type: 'ResponseHeaderModifier', responseHeaderModifier: HEADERS },
]

const mirror = (requestMirror: object): object => ({ type: 'RequestMirror', requestMirror })
const COPIES = { kind: 'Service', name: 'copies', namespace: 'default', port: 80 }
/** Two copies of each call, without random choice. */
const MIRRORS = [
  mirror({ backendRef: { group: '', ...COPIES }, fraction: { numerator: 3, denominator: 3 } }),
  mirror({ backendRef: ref('spare'), percent: 100 }),
  mirror({ backendRef: ref('never'), percent: 0 }),
  mirror({ backendRef: ref('never'), fraction: { numerator: 0 } }),
]

interface Filters {
  readonly ofRule?: readonly object[]
  readonly ofBackend?: readonly object[]
}

const rule = (tenant: string, { ofRule, ofBackend }: Filters): object => ({
  matches: [{ headers: [{ name: 'x-tenant', value: tenant }] }],
  ...(ofRule && { filters: ofRule }),
  backendRefs: [{ ...ref('echo'), ...(ofBackend && { filters: ofBackend }) }],
})

const matching = (tenant: string, method: object): object => ({
  matches: [{ method, headers: [{ type: 'Exact', name: 'x-tenant', value: tenant }] }],
  backendRefs: [ref('echo')],
})

const at = (port: number) => ({ static: { host: '127.0.0.1', port } })
const made = (kind: string, name: string, spec: object): object => ({
  apiVersion: 'gw.dev/v1alpha1',
  kind,
  metadata: { name, namespace: 'default' },
  spec,
})

function withRules(...rules: readonly object[]): (manifests: string) => string {
  return all(
    replacing('kind: HTTPRoute', 'kind: GRPCRoute'),
    changing('GwBackend/echo', at(18_100)),
    changing('GwBackend/spare', at(18_101)),
    changing('GRPCRoute/mirror', { hostnames: [SHOP, '*.shop.example.com'], rules }),
    adding(
      made('GwBackend', 'never', at(18_101)),
      made('GwPolicy', 'grpc', {
        targetRefs: [ref('echo'), ref('spare'), ref('never')],
        backend: { http: { version: 'HTTP2' } },
      }),
      ...localService({ name: 'copies', targetPort: 18_101, appProtocol: 'kubernetes.io/h2c' }),
    ),
  )
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'GRPCRouteHostnames',
    description: 'calls for the host names of the route are served, with streams both ways; others get UNIMPLEMENTED',
    sample: SAMPLE,
    change: withRules(rule('acme', {})),
    async run({ port }) {
      const metadata = { 'x-tenant': 'acme' }
      for (const authority of [SHOP, 'eu.shop.example.com']) {
        const one = await grpcCall(port, { authority, metadata, messages: ['hi'] })
        expect(one).toMatchObject({ code: OK, messages: ['hi'], metadata: { 'x-server': 'echo' } })
        const several = await grpcCall(port, { authority, metadata, messages: ['a', 'b', 'c'] })
        expect(several).toMatchObject({ code: OK, messages: ['a', 'b', 'c'], metadata: { 'x-server': 'echo' } })
      }
      const elsewhere = await grpcCall(port, { authority: 'other.example.com', metadata, messages: ['hi'] })
      expect(elsewhere).toMatchObject({ code: UNIMPLEMENTED, messages: [] })
    },
  },
  {
    shortName: 'GRPCRouteMatchTypes',
    description: 'service, method and header match exactly or by a regular expression; both match the whole value',
    sample: SAMPLE,
    change: withRules(
      matching('whole', { type: 'Exact', service: 'gw.samples.Echo', method: 'Say' }),
      matching('pattern', { type: 'RegularExpression', service: '(gw|api)\\.samples\\.[A-Z][a-z]+', method: 'S.y' }),
      matching('service', { type: 'RegularExpression', service: 'gw\\..*' }),
      matching('part', { type: 'RegularExpression', service: 'samples', method: 'Say' }),
      matching('other', { type: 'RegularExpression', service: 'gw\\..*', method: 'Sing|Sa' }),
    ),
    async run({ port }) {
      const codeOf = async (tenant: string): Promise<number> =>
        (await grpcCall(port, { authority: SHOP, metadata: { 'x-tenant': tenant }, messages: ['hi'] })).code
      for (const tenant of ['whole', 'pattern', 'service']) expect([tenant, await codeOf(tenant)]).toEqual([tenant, OK])
      for (const tenant of ['part', 'other', 'wholes']) {
        expect([tenant, await codeOf(tenant)]).toEqual([tenant, UNIMPLEMENTED])
      }
    },
  },
  {
    shortName: 'GRPCRouteHeaderFilters',
    description: 'metadata is set, added and removed both ways by the rule and by the backendRef',
    sample: SAMPLE,
    change: withRules(rule('rule', { ofRule: HEADER_FILTERS }), rule('backend', { ofBackend: HEADER_FILTERS })),
    async run({ port }) {
      for (const tenant of ['rule', 'backend']) {
        const metadata = { 'x-tenant': tenant, 'x-set': 'client', 'x-add': 'client', 'x-gone': 'client' }
        const reply = await grpcCall(port, { authority: SHOP, metadata, messages: ['hi'] })
        expect(reply).toMatchObject({ code: OK, messages: ['hi'], metadata: { 'x-set': 'set', 'x-add': 'added' } })
        expect(reply.metadata).not.toHaveProperty('x-powered-by')
        expect(reply.got).toMatchObject({ 'x-set': 'set', 'x-tenant': tenant })
        expect(String(reply.got['x-add']).split(/, ?/)).toEqual(['client', 'added'])
        expect(reply.got).not.toHaveProperty('x-gone')
      }
    },
  },
  {
    shortName: 'GRPCRouteMirrors',
    description:
      'each mirror gets its share of the calls, without messages; the client gets only the response of the backend',
    sample: SAMPLE,
    change: withRules(rule('rule', { ofRule: MIRRORS }), rule('backend', { ofBackend: MIRRORS })),
    async run({ port, upstreams }) {
      for (const tenant of ['rule', 'backend']) {
        const before = upstreams.grpc.spare.calls.length
        const metadata = { 'x-tenant': tenant }
        for (let i = 0; i < CALLS; i++) {
          const reply = await grpcCall(port, { authority: SHOP, metadata, messages: ['a', 'b'] })
          expect(reply).toMatchObject({ code: OK, messages: ['a', 'b'], metadata: { 'x-server': 'echo' } })
        }
        await expect.poll(() => upstreams.grpc.spare.calls.length - before).toBe(2 * CALLS)
        expect(upstreams.grpc.spare.calls.at(-1)).toMatchObject(metadata)
      }
    },
  },
]
