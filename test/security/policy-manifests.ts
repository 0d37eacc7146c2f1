// The gateway that policies.test.ts attacks: a rule for each policy; its path is the name.
import { stringify } from 'yaml'

const ECHO_PORT = 18_081
const AUTHZ_PORT = 18_090
const GATEWAY_API = 'gateway.networking.k8s.io'
/** `secret`. */
const SHA1_OF_SECRET = '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='

export interface PolicyPlaces {
  readonly issuer: string
  readonly jwks: string
  readonly recorderPort: number
}

export function policyManifests({ issuer, jwks, recorderPort }: PolicyPlaces): string {
  const policies: Readonly<Record<string, object>> = {
    jwt: { jwtAuthentication: { providers: [{ issuer, audiences: ['shop'], jwks: { inline: jwks } }] } },
    basic: { basicAuthentication: { users: [`ann:${SHA1_OF_SECRET}`] } },
    keys: { apiKeyAuthentication: { secretRef: { name: 'keys' } } },
    csrf: { csrf: {} },
    cors: { cors: { allowOrigins: ['https://*.shop.test', 'https://one.test'], allowCredentials: true } },
    roles: {
      authorization: {
        action: 'Deny',
        policy: {
          matchExpressions: [
            'request.host.split(":")[0] == "admin.test" || request.headers.join()["x-role"].contains("guest")',
          ],
        },
      },
    },
    asked: {
      extAuth: {
        backendRef: backendRef('authz'),
        http: { allowedResponseHeaders: ['x-user', 'x-team'] },
      },
    },
    mirrored: {
      apiKeyAuthentication: { secretRef: { name: 'keys' }, location: { queryParameter: { name: 'key' } } },
    },
  }
  const filters: Readonly<Record<string, object>> = {
    mirrored: { type: 'RequestMirror', requestMirror: { backendRef: backendRef('recorder') } },
    redirect: { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } },
  }
  const backends: Readonly<Record<string, string>> = { mirrored: 'keyed', once: 'recorder' }
  const rules = [...Object.keys(policies), 'redirect', 'once'].map((name) => ({
    name,
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    ...(filters[name] !== undefined && { filters: [filters[name]] }),
    ...(name !== 'redirect' && { backendRefs: [backendRef(backends[name] ?? 'echo')] }),
  }))
  const elsewhere = { matches: [{ path: { type: 'PathPrefix', value: '/' } }], filters: [filters['redirect']] }
  const objects = [
    gatewayApi('GatewayClass', 'gw', { controllerName: 'gw.dev/controller' }),
    gatewayApi('Gateway', 'edge', {
      gatewayClassName: 'gw',
      listeners: [{ name: 'http', port: 8080, protocol: 'HTTP', hostname: '*.test' }],
    }),
    { apiVersion: 'v1', kind: 'Secret', metadata: named('keys'), stringData: { one: 'a-key' } },
    gatewayApi('HTTPRoute', 'all', { parentRefs: [{ name: 'edge' }], rules: [...rules, elsewhere] }),
    own('GwBackend', 'echo', { static: { host: '127.0.0.1', port: ECHO_PORT } }),
    own('GwBackend', 'keyed', {
      static: { host: '127.0.0.1', port: ECHO_PORT },
      policies: { auth: { key: 'backend-key' } },
    }),
    own('GwBackend', 'authz', { static: { host: '127.0.0.1', port: AUTHZ_PORT } }),
    own('GwBackend', 'recorder', { static: { host: '127.0.0.1', port: recorderPort } }),
    ...Object.entries(policies).map(([name, traffic]) =>
      own('GwPolicy', name, {
        targetRefs: [{ group: GATEWAY_API, kind: 'HTTPRoute', name: 'all', sectionName: name }],
        traffic,
      }),
    ),
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}

function backendRef(name: string): object {
  return { group: 'gw.dev', kind: 'GwBackend', name }
}

function named(name: string): object {
  return { name, namespace: 'default' }
}

function gatewayApi(kind: string, name: string, spec: object): object {
  return { apiVersion: `${GATEWAY_API}/v1`, kind, metadata: named(name), spec }
}

function own(kind: string, name: string, spec: object): object {
  return { apiVersion: 'gw.dev/v1alpha1', kind, metadata: named(name), spec }
}
