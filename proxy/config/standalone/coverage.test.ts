// A standalone file can set everything in the contract: for every field that a file can set (coverage.ts), a fragment
// of a file that sets it. The types keep the lists complete.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Backend, BackendReference, JwtProvider, PolicyTarget, RenderedConfig } from '#api/ir/types.gen.ts'
import { validateConfig } from '#api/ir/validate.ts'
import * as coverage from './coverage.ts'
import { loadStandalone } from './load.ts'

interface Not {
  readonly reason: string
}
type Table = Readonly<Record<string, { readonly by: readonly string[] } | Not>>
type Said<K extends string> = Readonly<Record<K, string | Not>>

const folder = mkdtempSync(join(tmpdir(), 'gw-coverage-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'users'), 'ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n')

const KEYS = '\'{"keys":[]}\''
const SERVICE = 'host: "127.0.0.1:1"'

/** Policies of a route. */
const TRAFFIC: Readonly<Record<coverage.WrittenIn<typeof coverage.TRAFFIC>, string>> = {
  deny: 'oidc: {}',
  timeouts: 'timeout: { requestTimeout: 1s }',
  cors: 'cors: { allowOrigins: ["*"] }',
  jwtAuthentication: `jwtAuth: { issuer: i, jwks: ${KEYS} }`,
  basicAuthentication: 'basicAuth: { htpasswd: { file: users } }',
  apiKeyAuthentication: 'apiKey: { keys: [{ key: a }] }',
  extAuth: `extAuthz: { ${SERVICE} }`,
  authorization: 'authorization: { rules: ["true"] }',
  retry: 'retry: { codes: [503] }',
  rateLimit: 'localRateLimit: [{ fillInterval: 1s }]',
  rateLimitGlobal: `remoteRateLimit: { ${SERVICE}, domain: d, descriptors: [{ entries: [{ key: k, value: "'v'" }] }] }`,
  buffer: 'buffer: { request: { maxBytes: 1 } }',
  extProc: `extProc: { ${SERVICE} }`,
  transformation: 'transformations: { request: { set: { a: "\'b\'" } } }',
  csrf: 'csrf: {}',
  requestHeaderModifier: 'requestHeaderModifier: { set: { a: b } }',
  responseHeaderModifier: 'responseHeaderModifier: { set: { a: b } }',
  hostRewrite: 'urlRewrite: { authority: auto }',
  urlRewrite: 'urlRewrite: { path: { full: /a } }',
  requestRedirect: 'requestRedirect: { path: { full: /a } }',
  delay: 'delay: { duration: 1s }',
  directResponse: 'directResponse: { status: 200 }',
  requestMirror: `requestMirror: { backend: { ${SERVICE} }, percentage: 1 }`,
}

/**
 * Policies of a backend. Only MCP backends have mcpAuthorization and mcpGuardrails, and only services inferenceRouting:
 * see the golden files mcp and discovery.
 */
const BACKEND: Readonly<
  Record<
    Exclude<coverage.WrittenIn<typeof coverage.BACKEND>, 'mcpAuthorization' | 'mcpGuardrails' | 'inferenceRouting'>,
    string
  >
> = {
  deny: 'backendAuth: { copilot: {} }',
  authorization: 'authorization: { rules: ["true"] }',
  ai: 'ai: { modelAliases: { a: b } }',
  extAuth: `extAuthz: { ${SERVICE} }`,
  auth: 'backendAuth: key',
  tls: 'backendTLS: {}',
  tcp: 'tcp: { connectTimeout: 1s }',
  http: 'http: { requestTimeout: 1s }',
  tunnel: 'backendTunnel: { proxy: { host: "127.0.0.1:3128", policies: { backendTLS: {} } } }',
  health: 'health: { unhealthyExpression: "response.code > 499" }',
  transformation: 'transformations: { request: { set: { a: "\'b\'" } } }',
  requestHeaderModifier: 'requestHeaderModifier: { set: { a: b } }',
  responseHeaderModifier: 'responseHeaderModifier: { set: { a: b } }',
  requestRedirect: 'requestRedirect: { path: { full: /a } }',
}

const FRONTEND: Readonly<Record<coverage.WrittenIn<typeof coverage.FRONTEND>, string>> = {
  http: 'http: { http1MaxHeaders: 10 }',
  accessLog: 'accessLog: { filter: "true" }',
  tracing: `tracing: { ${SERVICE} }`,
  metrics: 'metrics: { add: { team: "\'a\'" } }',
  networkAuthorization: 'networkAuthorization: { rules: ["true"] }',
  tls: 'tls: { handshakeTimeout: 1s }',
  tcp: 'tcp: { keepalives: {} }',
  connect: 'connect: { mode: deny }',
  proxyProtocol: 'proxyProtocol: {}',
}

/** A backend of a route. */
const FORMS: Said<Exclude<keyof Backend, 'key' | 'name'>> = {
  section: { reason: 'names a part that was generated' },
  static: `{ ${SERVICE} }`,
  a2a: `{ ${SERVICE}, policies: { a2a: {} } }`,
  dynamic: '{ dynamic: {} }',
  ai: '{ ai: { name: a, provider: { openAI: {} } } }',
  mcp: '{ mcp: { targets: [{ name: a, mcp: { host: "http://127.0.0.1:1/mcp" } }] } }',
  models: { reason: 'waits for the section llm' },
  agentCore:
    '{ aws: { agentCore: { agentRuntimeArn: "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/a", qualifier: q } } }',
  invalid: { reason: 'made by the operator; in a file `invalid` is a reference, see below' },
  unsupported: { reason: 'a file with a provider that is not run is refused' },
  inlinePolicies: `{ ${SERVICE}, policies: { backendTLS: {} } }`,
}

const REFERENCES: Said<keyof BackendReference> = {
  service: '{ service: { name: default/echo.default.svc.cluster.local, port: 80 } }',
  backend: `{ ${SERVICE} }`,
  routeGroup: '{ routeGroup: group }',
  invalid: '{ invalid: true }',
}

const TARGETS: Said<keyof PolicyTarget> = {
  gateway: 'gateway: { gatewayName: default }',
  listenerSet: { reason: 'a file has no listener sets: its gateways have all their listeners' },
  route: 'route: { name: route }',
  service: 'backend: { service: { hostname: echo.default.svc.cluster.local, port: 80 } }',
  backend: 'backend: { backend: { name: named } }',
  several: { reason: 'made by the operator for selectors that find many objects' },
}

/** Fields of jwtAuth. */
const JWT: Said<keyof JwtProvider> = {
  issuer: `issuer: i, jwks: ${KEYS}`,
  audiences: `issuer: i, jwks: ${KEYS}, audiences: [a]`,
  requiredClaims: `issuer: i, jwks: ${KEYS}, jwtValidationOptions: { requiredClaims: [exp, sub] }`,
  jwks: `issuer: i, jwks: ${KEYS}`,
  source: 'issuer: i, jwks: { url: "http://127.0.0.1:1/keys" }',
  unavailable: 'issuer: i, jwks: { url: "http://127.0.0.1:1/keys" }',
}

interface Parts {
  readonly policies?: string
  readonly backend?: string
  readonly more?: string
}

function load({ policies = '', backend = `{ ${SERVICE} }`, more = '' }: Parts): RenderedConfig {
  const text = `gateways: { default: { port: 8080 } }
backends: [{ name: named, ${SERVICE} }]
services: [{ name: echo, ports: { 80: 8080 } }]
routeGroups: [{ name: group, routes: [{ name: child, backends: [{ backend: named }] }] }]
routes:
- name: route
  policies: { ${policies} }
  backends: [${backend}]
${more}
`
  const loaded = loadStandalone({ path: join(folder, 'file.yaml'), text, environment: {} })
  const errors = loaded.problems.filter(({ severity }) => severity === 'error')
  if (loaded.rendered === undefined)
    throw new Error(errors.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  expect(validateConfig(loaded.rendered.config)).toEqual([])
  return loaded.rendered.config
}

function saidOf(table: Readonly<Record<string, string | Not>>): [string, string][] {
  return Object.entries(table).flatMap(([field, said]) => (typeof said === 'string' ? [[field, said]] : []))
}

function fieldsOf(payloads: readonly (object | undefined)[]): string[] {
  return payloads.flatMap((payload) => Object.keys(payload ?? {}))
}

describe('a standalone file sets', () => {
  it.each([
    ['traffic', coverage.TRAFFIC, TRAFFIC],
    ['backend', coverage.BACKEND, BACKEND],
    ['frontend', coverage.FRONTEND, FRONTEND],
  ] as const)('each %s field by a field of the table', (_, table: Table, written) => {
    const wrong = Object.entries(written).filter(([field, text]) => {
      const own = table[field]
      return own === undefined || !('by' in own) || !own.by.includes(text.slice(0, text.indexOf(':')))
    })
    expect(wrong).toEqual([])
  })

  it.each(saidOf(TRAFFIC))('of a route: %s', (field, policies) => {
    const { routes, policies: attached } = load({ policies })
    const payloads = [
      ...routes.map(({ inlinePolicies }) => inlinePolicies),
      ...attached.map(({ policy }) => policy.traffic),
    ]
    expect(fieldsOf(payloads)).toContain(field)
  })

  it.each(saidOf(BACKEND))('of a backend: %s', (field, policies) => {
    const { backends } = load({ backend: `{ ${SERVICE}, policies: { ${policies} } }` })
    expect(fieldsOf(backends.map(({ inlinePolicies }) => inlinePolicies))).toContain(field)
  })

  it.each(saidOf(FRONTEND))('of connections: %s', (field, policies) => {
    const { policies: attached } = load({ more: `frontendPolicies: { ${policies} }` })
    expect(fieldsOf(attached.map(({ policy }) => policy.frontend))).toContain(field)
  })

  it.each(saidOf(FORMS))('as a backend: %s', (field, backend) => {
    expect(fieldsOf(load({ backend }).backends)).toContain(field)
  })

  it.each(saidOf(REFERENCES))('as a reference: %s', (field, backend) => {
    const { routes } = load({ backend })
    expect(fieldsOf(routes.flatMap(({ backends }) => backends.map(({ ref }) => ref)))).toContain(field)
  })

  it.each(saidOf(TARGETS))('as a target: %s', (field, target) => {
    const more = `policies: [{ name: { name: p }, target: { ${target} }, policy: { backendTLS: {} } }]`
    const found = load({ more }).policies.filter(({ key }) => key.startsWith('policy/'))
    expect(fieldsOf(found.map((policy) => policy.target))).toEqual([field])
  })

  it.each(saidOf(JWT))('of a token: %s', (field, jwt) => {
    const [route] = load({ policies: `jwtAuth: { ${jwt} }` }).routes
    expect(fieldsOf(route?.inlinePolicies?.jwtAuthentication?.providers ?? [])).toContain(field)
  })
})

describe('policies with targets', () => {
  const policy = (target: string, rest: string): string =>
    `policies: [{ name: { name: p, namespace: ns }, target: { ${target} }, ${rest} }]`
  const problemOf = (more: string): string => {
    try {
      load({ more })
      return ''
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  it('apply before routing with the phase gateway', () => {
    const more = policy(
      'gateway: { gatewayName: default, listenerName: default }',
      'phase: gateway, policy: { cors: {} }',
    )
    expect(load({ more }).policies).toMatchObject([
      {
        key: 'policy/ns/p/traffic/0',
        target: { gateway: { namespace: 'default', name: 'default', listener: 'default' } },
        phase: 'PreRouting',
        policy: { traffic: { cors: {} } },
      },
    ])
  })

  it.each([
    ['a gateway that is not there', 'gateway: { gatewayName: defualt }', 'policy: { cors: {} }', 'did you mean default?'],
    ['a route that is not there', 'route: { name: rote }', 'policy: { cors: {} }', 'did you mean route?'],
    ['a backend that is not there', 'backend: { backend: { name: x } }', 'policy: { backendTLS: {} }', 'no backend named x; there are: named'],
    ['a service where there is none', 'backend: { service: { hostname: x, namespace: other } }', 'policy: { backendTLS: {} }', 'no service named x; none is defined'],
    ['the phase gateway of a route', 'route: { name: route }', 'phase: gateway, policy: { cors: {} }', 'requires a gateway as target'],
    ['what cannot stand before routing', 'gateway: { gatewayName: default }', 'phase: gateway, policy: { csrf: {} }', 'does not run csrf'],
    ['requests at a backend', 'backend: { backend: { name: named } }', 'policy: { cors: {} }', 'require a gateway or route as target'],
    ['a rewrite', 'gateway: { gatewayName: default }', 'policy: { urlRewrite: { path: { full: /a } } }', 'only in the policies of a route'],
  ])("reject %s", (_, target, rest, message) => {
    expect(problemOf(policy(target, rest))).toContain(message)
  }) // prettier-ignore
})

describe('groups of routes', () => {
  it('get requests delegated by a route', () => {
    const { routes } = load({ backend: '{ routeGroup: group }' })
    expect(routes.map(({ listenerKey, routeGroupKey, backends }) => [listenerKey, routeGroupKey, backends])).toEqual([
      ['gateway/default', undefined, [{ weight: 1, ref: { routeGroup: 'routeGroup/group' } }]],
      [undefined, 'routeGroup/group', [{ weight: 1, ref: { backend: '/named' } }]],
    ])
  })

  it('must exist', () => {
    expect(() => load({ backend: '{ routeGroup: grop }' })).toThrow('did you mean group?')
  })
})
