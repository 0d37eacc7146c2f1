// One gateway with every failure: a path for each failure, with the policy or backend that causes it.
import { stringify } from 'yaml'

const ROUTE_API = 'gateway.networking.k8s.io/v1'
const OWN_API = 'gw.dev/v1alpha1'
const RULES_PER_ROUTE = 16
/** Ports of test/conformance/suite/upstreams.ts; 1 is closed. */
const PORTS = { echo: 18_081, silent: 18_087, authz: 18_090, limiter: 18_092 }
const MODEL_PORT = 18_082
const CLOSED_PORT = 1

interface FailingRule {
  readonly name: string
  /** Sections of a GwPolicy. */
  readonly policy?: object
  readonly backendRefs?: readonly object[]
  readonly filters?: readonly object[]
}

const to = (name: string) => [{ group: 'gw.dev', kind: 'GwBackend', name }]
const ECHO = to('echo')
const service = (name: string) => ({ backendRef: { group: 'gw.dev', kind: 'GwBackend', name } })
const limit = (name: string, expression = '"all"') => ({
  rateLimit: {
    global: { ...service(name), domain: 'errors', descriptors: [{ entries: [{ name: 'who', expression }] }] },
  },
})

const RULES: readonly FailingRule[] = [
  { name: 'no-backends', backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'echo', weight: 0 }] },
  { name: 'no-backend', backendRefs: to('nowhere') },
  { name: 'no-service', backendRefs: [{ name: 'nowhere', port: 80 }] },
  { name: 'no-endpoint', backendRefs: [{ name: 'idle', port: 80 }] },
  { name: 'no-address', backendRefs: to('unnamed') },
  { name: 'refused', backendRefs: to('closed') },
  { name: 'slow-backend', backendRefs: to('silent'), policy: { backend: { http: { requestTimeout: '50ms' } } } },
  { name: 'slow-route', backendRefs: to('silent'), policy: { traffic: { timeouts: { request: '50ms' } } } },
  { name: 'upgrade', backendRefs: to('confused') },
  {
    name: 'jwt',
    policy: {
      traffic: { jwtAuthentication: { providers: [{ issuer: 'https://a.test', jwks: { inline: '{"keys":[]}' } }] } },
    },
  },
  {
    name: 'basic',
    policy: { traffic: { basicAuthentication: { users: ['a:$apr1$builder1$e6IHIv4W2wYXIsARGCVX5.'] } } },
  },
  {
    name: 'proxy-basic',
    policy: {
      traffic: {
        basicAuthentication: {
          users: ['a:$apr1$builder1$e6IHIv4W2wYXIsARGCVX5.'],
          location: { header: { name: 'proxy-authorization', prefix: 'Basic ' } },
        },
      },
    },
  },
  { name: 'api-key', policy: { traffic: { apiKeyAuthentication: { secretRef: { name: 'keys' } } } } },
  {
    name: 'authorization',
    policy: { traffic: { authorization: { policy: { matchExpressions: ['request.method == "BREW"'] } } } },
  },
  {
    name: 'denied',
    policy: { traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['request.'] } } } },
  },
  { name: 'ext-auth', policy: { traffic: { extAuth: { ...service('authz'), http: {} } } } },
  { name: 'ext-auth-gone', policy: { traffic: { extAuth: { ...service('closed'), grpc: {} } } } },
  {
    name: 'ext-auth-size',
    policy: { traffic: { extAuth: { ...service('authz'), http: {}, forwardBody: { maxSize: 4 } } } },
  },
  { name: 'csrf', policy: { traffic: { csrf: {} } } },
  { name: 'cors', policy: { traffic: { cors: { allowOrigins: ['https://a.test'], allowMethods: ['GET'] } } } },
  { name: 'rate-limit', policy: { traffic: { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } } } },
  { name: 'rate-limit-global', policy: { traffic: limit('limiter', 'request.headers["x-who"]') } },
  { name: 'rate-limit-gone', policy: { traffic: limit('closed') } },
  { name: 'ext-proc', policy: { traffic: { extProc: service('closed') } } },
  { name: 'request-size', policy: { traffic: { buffer: { request: { maxBytes: 4 } } } } },
  { name: 'response-size', policy: { traffic: { buffer: { response: { maxBytes: 4 } } } } },
  { name: 'backend-auth', policy: { backend: { auth: { secretRef: { name: 'nowhere' } } } } },
  {
    name: 'answer',
    policy: { traffic: { directResponse: { status: 200, bodyExpression: 'request.headers["x-missing"]' } } },
  },
  {
    name: 'rewrite',
    // The transformation runs first and removes the path that the rewrite replaces.
    policy: { traffic: { transformation: { request: { set: [{ name: ':path', value: '"/elsewhere"' }] } } } },
    filters: [
      { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/rewritten' } } },
    ],
  },
  { name: 'llm', backendRefs: to('model') },
  { name: 'mcp', backendRefs: to('tools') },
]

/** `confusedPort`: a server that upgrades to a protocol that was not requested. */
export function failingManifests({ confusedPort }: { readonly confusedPort: number }): string {
  const routes = Array.from({ length: Math.ceil(RULES.length / RULES_PER_ROUTE) }, (_, index) => ({
    name: `routes-${index}`,
    rules: RULES.slice(index * RULES_PER_ROUTE, (index + 1) * RULES_PER_ROUTE),
  }))
  const objects = [
    {
      apiVersion: ROUTE_API,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    object(ROUTE_API, 'Gateway', 'errors', {
      gatewayClassName: 'gw',
      listeners: [{ name: 'http', port: 8080, protocol: 'HTTP', hostname: '*.test' }],
    }),
    ...Object.entries(PORTS).map(([name, port]) => backend(name, { static: { host: '127.0.0.1', port } })),
    backend('closed', { static: { host: '127.0.0.1', port: CLOSED_PORT } }),
    backend('unnamed', { static: { host: 'no-such-host.invalid', port: 80 } }),
    backend('confused', { static: { host: '127.0.0.1', port: confusedPort } }),
    backend('model', { ai: { provider: { p1: {}, host: '127.0.0.1', port: MODEL_PORT, pathPrefix: '/v1' } } }),
    backend('tools', { mcp: { targets: [{ name: 'one', static: { host: '127.0.0.1', port: CLOSED_PORT } }] } }),
    object('v1', 'Service', 'idle', { ports: [{ port: 80 }] }),
    { ...object('v1', 'Secret', 'keys', undefined), stringData: { one: 'a-key' } },
    ...routes.flatMap(({ name, rules }) => [
      object(ROUTE_API, 'HTTPRoute', name, { parentRefs: [{ name: 'errors' }], rules: rules.map(ruleOf) }),
      ...rules.flatMap((rule) => (rule.policy === undefined ? [] : [policyOf(rule, name)])),
    ]),
  ]
  return objects.map((one) => stringify(one)).join('---\n')
}

function ruleOf({ name, backendRefs = ECHO, filters }: FailingRule): object {
  return {
    name,
    ...(filters !== undefined && { filters }),
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs,
  }
}

function policyOf({ name, policy }: FailingRule, route: string): object {
  const target = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: route, sectionName: name }
  return object(OWN_API, 'GwPolicy', name, { targetRefs: [target], ...policy })
}

function backend(name: string, spec: object): object {
  return object(OWN_API, 'GwBackend', name, spec)
}

function object(apiVersion: string, kind: string, name: string, spec: object | undefined): object {
  return { apiVersion, kind, metadata: { name, namespace: 'default' }, ...(spec !== undefined && { spec }) }
}
