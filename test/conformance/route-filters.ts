// All fields of filters of HTTPRoutes, in a rule and in a backendRef: copies of RequestMirror, requests of
// ExternalAuth, locations of RequestRedirect.
import { expect } from 'vitest'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import { adding, localService } from './suite/services.ts'

const SAMPLE = 'mirror.yaml'
const PLACES = ['rule', 'backend'] as const

const ref = (name: string) => ({ group: 'gw.dev', kind: 'GwBackend', name })
const service = (name: string) => ({ group: '', kind: 'Service', name, namespace: 'default', port: 80 })
const sees = (value: string): object => ({ path: { type: 'PathPrefix', value } })

/** Rules /rule… and /backend…, with their filters. A rule with a redirect has no backends. */
function withFilters(...filters: readonly { readonly type: string }[]): (manifests: string) => string {
  const never = {
    metadata: { name: 'never', namespace: 'default' },
    spec: { static: { host: '127.0.0.1', port: 18_084 } },
  }
  const isRedirect = filters.some(({ type }) => type === 'RequestRedirect')
  return all(
    changing('HTTPRoute/mirror', {
      rules: [
        { matches: [sees('/rule')], filters, ...(isRedirect ? {} : { backendRefs: [ref('echo')] }) },
        { matches: [sees('/backend')], backendRefs: [{ ...ref('echo'), filters }] },
      ],
    }),
    adding(
      { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', ...never },
      ...localService({ name: 'copies', targetPort: 18_084 }),
      ...localService({ name: 'authz-http', targetPort: 18_090 }),
      ...localService({ name: 'authz-grpc', targetPort: 18_091, appProtocol: 'kubernetes.io/h2c' }),
    ),
  )
}

const mirror = (requestMirror: object) => ({ type: 'RequestMirror', requestMirror })
const askingOver = (externalAuth: object) => ({ type: 'ExternalAuth', externalAuth })
const redirecting = (path: object, more: object = {}) => ({
  type: 'RequestRedirect',
  requestRedirect: { ...more, path },
})

const ALICE = { authorization: 'Bearer alice-token' }
const HOST = { host: 'shop.example.com' }
const REQUESTS = 5

interface DumpedBackend {
  readonly backend: { readonly host: { readonly name: string; readonly info: { readonly totalRequests: number } } }
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'MirrorShares',
    description: 'each of several mirrors gets its percentage or fraction, of Services and of backends',
    sample: SAMPLE,
    change: withFilters(
      mirror({ backendRef: service('copies'), fraction: { numerator: 3, denominator: 3 } }),
      mirror({ backendRef: ref('spare'), percent: 100 }),
      mirror({ backendRef: ref('never'), percent: 0 }),
      mirror({ backendRef: ref('never'), fraction: { numerator: 0 } }),
    ),
    async run(gateway) {
      for (const place of PLACES) {
        const path = `/${place}/${String(gateway.port)}`
        for (let i = 0; i < REQUESTS; i++) expect((await gateway.echo(path)).server).toBe('echo')
        const copies = (): number => gateway.upstreams.copied.filter((one) => one === path).length
        await expect.poll(copies).toBe(2 * REQUESTS)
      }
      const { backends } = (await gateway.dump()) as { backends: DumpedBackend[] } // api/admin describes it
      const { host } = backends.find(({ backend }) => backend.host.name === 'never')?.backend ?? {}
      expect(host?.info.totalRequests).toBe(0)
    },
  },
  {
    shortName: 'ExternalAuthOverHttp',
    description:
      'the service gets path, headers and body of the filter, and only the listed headers of its response are used',
    sample: SAMPLE,
    change: withFilters(
      askingOver({
        protocol: 'HTTP',
        backendRef: service('authz-http'),
        http: {
          path: '/check',
          allowedHeaders: ['X-Got'],
          allowedResponseHeaders: ['X-User', 'x-asked', 'x-got-header', 'x-got-cookie', 'x-got-body'],
        },
        forwardBody: { maxSize: 5 },
      }),
    ),
    async run(gateway) {
      for (const place of PLACES) {
        const path = `/${place}/a?b=c`
        const headers = { ...ALICE, 'x-got': 'to the service', cookie: 'theme=dark', 'x-answer': 'of the client' }
        const echo = await gateway.echo(path, { method: 'POST', headers, body: 'hello' })
        expect(echo).toMatchObject({
          body: 'hello',
          headers: {
            'x-user': 'alice',
            'x-asked': `/check${path}`,
            'x-got-header': 'to the service',
            'x-got-cookie': '',
            'x-got-body': 'hello',
            'x-answer': 'of the client',
          },
        })
        const mallory = { headers: { authorization: 'Bearer mallory-token' } }
        expect(await gateway.ask(path, mallory)).toMatchObject({ status: 403, text: 'not for you' })
        const tooLarge = await gateway.ask(path, { method: 'POST', headers, body: 'hello!' })
        expect(tooLarge).toMatchObject({ status: 413, text: 'external authorization failed' })
      }
    },
  },
  {
    shortName: 'ExternalAuthOverGrpc',
    description: 'the service gets only the headers and the body of the filter',
    sample: SAMPLE,
    change: withFilters(
      askingOver({
        protocol: 'GRPC',
        backendRef: service('authz-grpc'),
        grpc: { allowedHeaders: ['Authorization', 'X-Place'] },
        forwardBody: { maxSize: 5 },
      }),
    ),
    async run(gateway) {
      for (const place of PLACES) {
        const headers = { ...ALICE, 'x-place': 'shop', cookie: 'theme=dark' }
        const echo = await gateway.echo(`/${place}`, { method: 'POST', headers, body: 'hello' })
        expect(echo).toMatchObject({
          body: 'hello',
          headers: { 'x-user': 'alice', 'x-got': '{} hello', 'x-got-names': 'authorization,x-place' },
        })
        const mallory = { ...headers, authorization: 'Bearer mallory-token' }
        const refused = await gateway.ask(`/${place}`, { headers: mallory })
        expect(refused).toMatchObject({ status: 403, text: 'not for you' })
      }
    },
  },
  {
    shortName: 'RedirectPrefix',
    description: 'the filter sets scheme, host, port, status and the beginning of the path',
    sample: SAMPLE,
    change: withFilters(
      redirecting(
        { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' },
        { scheme: 'https', hostname: 'other.example.com', port: 8444, statusCode: 308 },
      ),
    ),
    async run(gateway) {
      for (const place of PLACES) {
        const { status, headers } = await gateway.ask(`/${place}/x?y=z`, { headers: HOST })
        expect([status, headers.location]).toEqual([308, 'https://other.example.com:8444/new/x?y=z'])
      }
    },
  },
  {
    shortName: 'RedirectFullPath',
    description: 'the filter sets the whole path, the rest stays as in the request',
    sample: SAMPLE,
    change: withFilters(redirecting({ type: 'ReplaceFullPath', replaceFullPath: '/full' })),
    async run(gateway) {
      const host = `shop.example.com:${String(gateway.port)}`
      for (const place of PLACES) {
        const { status, headers } = await gateway.ask(`/${place}/x?y=z`, { headers: { host } })
        expect([status, headers.location]).toEqual([302, `http://${host}/full?y=z`])
      }
    },
  },
]
