// HTTPRoute filter RequestRedirect.
import { expect } from 'vitest'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { adding } from './suite/services.ts'

const STATUSES = [301, 302, 303, 307, 308]
const SCHEMES = ['http', 'https']

interface Redirect {
  readonly path: string
  readonly statusCode: number
  readonly scheme: string
}

const redirects: readonly Redirect[] = STATUSES.flatMap((statusCode) =>
  SCHEMES.map((scheme) => ({ path: `/${scheme}-${statusCode}`, statusCode, scheme })),
)

const filters = ({ scheme, statusCode }: Redirect): object => ({
  filters: [{ type: 'RequestRedirect', requestRedirect: { scheme, statusCode, hostname: 'shop.example.com' } }],
})
const below = (value: string): object => ({ matches: [{ path: { type: 'PathPrefix', value } }] })
const ofRules = redirects.map((one) => ({ ...below(one.path), ...filters(one) }))
/** No backend gets the request: the gateway answers when it selects the backend. */
const ofBackends = redirects.map((one) => ({
  ...below(one.path),
  backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'never', ...filters(one) }],
}))
const never = {
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GwBackend',
  metadata: { name: 'never', namespace: 'default' },
  spec: { static: { host: '127.0.0.1', port: 1 } },
}
const withRules = (rules: readonly object[]) => changing('HTTPRoute/route-redirect', { rules })

async function expectRedirects(gateway: SampleGateway): Promise<void> {
  for (const { path, statusCode, scheme } of redirects) {
    const { status, headers } = await gateway.ask(`${path}/a?b=1`)
    expect([status, headers.location]).toEqual([statusCode, `${scheme}://shop.example.com${path}/a?b=1`])
  }
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'RouteRedirect',
    description: 'the client gets the new location with the configured status',
    sample: 'route-redirect.yaml',
    async run(gateway) {
      const headers = { host: `gw.example.com:${gateway.port}` }
      const old = await gateway.ask('/old/a?b=1', { headers })
      expect(old).toMatchObject({ status: 301, text: '' })
      expect(old.headers.location).toBe(`http://gw.example.com:${gateway.port}/new/a?b=1`)
      const elsewhere = await gateway.ask('/elsewhere/x', { headers })
      expect(elsewhere.status).toBe(302)
      expect(elsewhere.headers.location).toBe('https://shop.example.com/elsewhere/x')
    },
  },
  {
    shortName: 'RouteRedirectStatuses',
    description: 'the client gets each status and each scheme that a redirect may have',
    sample: 'route-redirect.yaml',
    change: withRules(ofRules),
    run: expectRedirects,
  },
  {
    shortName: 'RouteRedirectOfBackendRef',
    description: 'redirects of a backendRef work as those of a rule',
    sample: 'route-redirect.yaml',
    change: all(withRules(ofBackends), adding(never)),
    run: expectRedirects,
  },
]
