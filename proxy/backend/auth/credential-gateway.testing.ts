// A gateway that sends fetched credentials to its backends: tokens of cross-app access and keys of an AWS role. For
// tests; not used by the proxy.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { CROSS_APP_SECRETS, crossAppAccess } from '../../credentials/oauth/authorities.testing.ts'

/** On loopback. */
export interface CredentialPorts {
  /** The identity provider. */
  readonly provider: number
  /** The authorization server of the application. */
  readonly application: number
  readonly upstream: number
}

const AUTH = crossAppAccess({ provider: 'ns/idp', application: 'ns/app' })
export const ROLE = 'arn:aws:iam::123456789012:role/gateway'

const HTTP: BackendPayload = {
  auth: { crossAppAccess: AUTH },
  requestHeaderModifier: { add: [{ name: 'x-backend', value: 'b' }] },
  urlRewrite: { path: { prefix: '/deep' } },
}

function route(name: string, prefix: string, backend: TestRoute['backend'], backendInline?: BackendPayload): TestRoute {
  return { name, prefix, backend, ...(backendInline && { backendInline }) }
}

/** Routes `/http`, `/aws`, `/v1` (a model provider) and `/mcp` to one backend, by fetched credentials. */
export function credentialGateway(
  { provider, application, upstream }: CredentialPorts,
  { workers, logFd }: { readonly workers: number; readonly logFd: number },
): Promise<TestProxy> {
  const at = (port: number) => ({ static: { host: '127.0.0.1', port } })
  const cloudA = {
    assumeRole: { roleRef: ROLE, sessionNameExpression: 'request.headers["x-user"]' },
    region: 'eu-west-1',
    serviceName: 'execute-api',
  }
  return testProxy({
    workers,
    secrets: CROSS_APP_SECRETS,
    settings: { logFd, logFormat: 'json', logLevel: 'info', accessLog: true },
    routes: [
      route('idp', '/unused-1', at(provider)),
      route('app', '/unused-2', at(application)),
      route('server', '/unused-3', { ...at(upstream), inlinePolicies: { auth: { crossAppAccess: AUTH } } }),
      route('http', '/http', at(upstream), HTTP),
      route('aws', '/aws', at(upstream), { auth: { cloudA } }),
      route(
        'ai',
        '/v1',
        {
          ai: {
            groups: [
              {
                providers: [
                  { name: 'p', provider: { openai: {} }, hostOverride: { host: '127.0.0.1', port: upstream } },
                ],
              },
            ],
          },
        },
        {
          auth: { crossAppAccess: AUTH },
          ai: { routes: { '/v1/chat/completions': 'Completions', '*': 'Passthrough' } },
        },
      ),
      route('mcp', '/mcp', {
        mcp: {
          targets: [{ name: 'a', ref: { backend: 'ns/server' } }],
          sessionRouting: 'Stateless',
          prefixMode: 'Conditional',
          failureMode: 'FailClosed',
        },
      }),
    ],
  })
}
