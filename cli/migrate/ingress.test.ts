import { describe, expect, it } from 'vitest'
import { settingsOf } from './annotations.ts'
import { migrateIngress } from './ingress.ts'

const BACKEND = { service: { name: 'web', port: { number: 80 } } }

interface Given {
  readonly annotations?: Readonly<Record<string, string>>
  readonly paths?: readonly object[]
  readonly tls?: readonly object[]
}

/** One host, `a.example`. */
function migrate({ annotations = {}, paths = [{ path: '/', pathType: 'Prefix', backend: BACKEND }], tls }: Given) {
  const named = Object.entries(annotations).map(([name, value]) => [`nginx.ingress.kubernetes.io/${name}`, value])
  const ingress = {
    metadata: { name: 'web', namespace: 'shop', annotations: Object.fromEntries(named) },
    spec: { rules: [{ host: 'a.example', http: { paths } }], ...(tls !== undefined && { tls }) },
  }
  return migrateIngress(ingress, { gateway: 'web', portOf: () => undefined })
}

function rules(given: Given): unknown {
  return migrate(given).routes.map((route) => ('spec' in route ? route.spec : undefined))[0]
}

describe('migrateIngress', () => {
  it.each([
    ['Exact', '/a', {}, { type: 'Exact', value: '/a' }],
    ['Prefix', '/a', {}, { type: 'PathPrefix', value: '/a' }],
    ['ImplementationSpecific', '/a', {}, { type: 'PathPrefix', value: '/a' }],
    [
      'ImplementationSpecific',
      '/a[0-9]',
      { 'use-regex': 'true' },
      { type: 'RegularExpression', value: '(?i)/a[0-9].*' },
    ],
    ['Exact', '/a', { 'use-regex': 'true' }, { type: 'Exact', value: '/a' }],
  ])('translates paths of the type %s: %s with %j', (pathType, path, annotations, match) => {
    expect(rules({ annotations, paths: [{ path, pathType, backend: BACKEND }] })).toMatchObject({
      rules: [{ matches: [{ path: match }], backendRefs: [{ name: 'web', port: 80 }] }],
    })
  })

  it.each([
    ['/', '/new', '/new', 'ReplaceFullPath'],
    ['/old(/|$)(.*)', '/$2', '/', 'ReplacePrefixMatch'],
    ['/old(/|$)(.*)', '/v1/$2', '/v1', 'ReplacePrefixMatch'],
  ])('rewrites %s to %s', (path, target, value, type) => {
    const member = type === 'ReplaceFullPath' ? 'replaceFullPath' : 'replacePrefixMatch'
    const paths = [{ path, pathType: 'ImplementationSpecific', backend: BACKEND }]
    expect(rules({ annotations: { 'rewrite-target': target }, paths })).toMatchObject({
      rules: [{ filters: [{ type: 'URLRewrite', urlRewrite: { path: { type, [member]: value } } }] }],
    })
  })

  it('redirects hosts with TLS to HTTPS, unless the annotation forbids it', () => {
    const tls = [{ hosts: ['a.example'], secretName: 'cert' }]
    expect(migrate({ tls }).routes).toMatchObject([
      { spec: { parentRefs: [{ name: 'web', sectionName: 'https-a.example' }] } },
      { metadata: { name: 'web-to-https' }, spec: { parentRefs: [{ name: 'web', sectionName: 'http' }] } },
    ])
    expect(migrate({ tls, annotations: { 'ssl-redirect': 'false' } }).routes).toMatchObject([
      { spec: { parentRefs: [{ name: 'web' }] } },
    ])
  })

  it.each([
    [{ 'enable-cors': 'true' }, { cors: { allowOrigins: ['*'], allowCredentials: true, maxAge: 1_728_000 } }],
    [
      { 'limit-rpm': '60', 'limit-burst-multiplier': '2' },
      { rateLimit: { local: [{ requests: 60, unit: 'Minutes', burst: 60 }] } },
    ],
    [
      { 'auth-type': 'basic', 'auth-secret': 'users' },
      { basicAuthentication: { secretRef: { name: 'users', key: 'auth' } } },
    ],
    [
      { 'denylist-source-range': '10.0.0.1,2001:db8::1' },
      {
        authorization: {
          action: 'Require',
          policy: {
            matchExpressions: [
              '!(cidr("10.0.0.1/32").containsIP(source.address) || cidr("2001:db8::1/128").containsIP(source.address))',
            ],
          },
        },
      },
    ],
    [{ 'proxy-body-size': '1k' }, { buffer: { request: { maxBytes: '1Ki' } } }],
  ])('%j is a policy of the route', (annotations, traffic) => {
    expect(migrate({ annotations }).policies).toMatchObject([
      { kind: 'GwPolicy', spec: { targetRefs: [{ kind: 'HTTPRoute', name: 'web' }], traffic } },
    ])
  })

  it.each([
    [{ 'auth-url': 'https://login.example' }, 'spec.traffic.extAuth'],
    [{ 'auth-tls-secret': 'shop/ca' }, 'spec.tls.frontend'],
    [{ 'auth-type': 'digest', 'auth-secret': 'users' }, 'only the type basic'],
    [{ 'auth-type': 'basic', 'auth-secret': 'other/users' }, 'in the same namespace'],
    [{ 'auth-type': 'basic' }, 'with auth-secret'],
  ])('leaves out an Ingress that %j protects', (annotations, text) => {
    const { routes, policies, findings } = migrate({ annotations })
    expect([routes, policies]).toEqual([[], []])
    expect(findings).toEqual([expect.objectContaining({ severity: 'error', message: expect.stringContaining(text) })])
  })

  it.each([
    [{ 'configuration-snippet': 'return 200;' }, 'no configuration of nginx can be used'],
    [{ 'limit-connections': '5' }, 'it has no equal'],
    [{ affinity: 'cookie', 'session-cookie-name': 'a' }, 'Gw does not bind clients to a pod'],
    [{ 'proxy-connect-timeout': '5' }, 'set spec.backend.tcp.connectTimeout'],
    [{ 'rewrite-target': '/$1' }, 'the rewrite to /$1 is not migrated'],
  ])('reports %j', (annotations, text) => {
    expect(migrate({ annotations }).findings).toContainEqual(
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining(text) }),
    )
  })

  it.each([
    [{ canary: 'true', 'canary-weight': '20' }, 'to the main route with the weight 20'],
    [{ canary: 'true', 'canary-by-header': 'x-canary' }, 'to the main route with a match of its header'],
  ])('leaves out the canary %j, which would take all requests of the host', (annotations, text) => {
    const { routes, findings } = migrate({ annotations })
    expect(routes).toEqual([])
    expect(findings).toEqual([expect.objectContaining({ severity: 'error', message: expect.stringContaining(text) })])
  })

  it.each([{ canary: 'false' }, { 'ssl-passthrough': 'false' }])('reports nothing for %j', (annotations) => {
    expect(migrate({ annotations }).findings).toEqual([])
  })

  it('reports annotations of programs that read Ingresses', () => {
    const keys = ['cert-manager.io/cluster-issuer', 'external-dns.alpha.kubernetes.io/ttl', 'example.com/team']
    const { findings } = settingsOf(Object.fromEntries(keys.map((key) => [key, 'x'])))
    expect(findings.map(({ path, severity, message }) => [path, severity, message])).toEqual([
      [`metadata.annotations[${keys[0]}]`, 'warning', expect.stringMatching(/^not migrated; set it on the Gateway: /)],
      [`metadata.annotations[${keys[1]}]`, 'warning', expect.stringContaining('--source=gateway-httproute')],
    ])
  })

  it('leaves out rules whose backend is not a port of a Service that it finds', () => {
    const named = { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { name: 'http' } } } }
    const resource = { path: '/', pathType: 'Prefix', backend: { resource: { kind: 'Bucket', name: 'x' } } }
    const { routes, findings } = migrate({ paths: [named, resource] })
    expect(routes).toEqual([])
    expect(findings.map(({ path, message }) => [path, message])).toEqual([
      ['spec.rules[0].http.paths[0].backend', expect.stringContaining('add the Service web to the files')],
      ['spec.rules[0].http.paths[1].backend', 'the rule is left out: only Services can be backends'],
    ])
  })
})
