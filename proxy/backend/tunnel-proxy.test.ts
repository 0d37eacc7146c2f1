// Which kinds of credentials an intermediate proxy can get. With others, no connection is opened.
import { expect, it } from 'vitest'
import type { BackendAuth, OAuthEndpoint } from '#api/ir/types.gen.ts'
import type { EndpointPicker } from './handler.ts'
import { tunnelThrough } from './tunnel-proxy.ts'

const NO_ENDPOINTS: EndpointPicker = {
  isHostname: false,
  pick: () => undefined,
  other: () => undefined,
  hasActive: () => false,
  find: () => undefined,
}

/** The fields of the CONNECT request, or the problem. */
function wayWith(auth: BackendAuth): readonly string[] | string {
  const { way } = tunnelThrough({
    proxy: { backend: 'n/proxy' },
    policies: { auth, mcpAuthorization: [] },
    picker: NO_ENDPOINTS,
    addresses: [],
    secret: ({ secret }) => (secret === 'n/key' ? 'planted-key\n' : undefined),
  })
  if ('open' in way) throw new Error('the way does not lead through a proxy')
  return 'problem' in way ? way.problem : way.headers
}

const key = { secret: 'n/key' }
const endpoint: OAuthEndpoint = {
  service: { backend: 'n/idp' },
  path: '/',
  clientAuth: { clientId: 'c', method: 'ClientSecretPost' },
}
const header = { header: { name: 'x-key' } }
const REFUSED = (kind: string): string => `credentials of ${kind} cannot be sent to a proxy: use key or secretRef`

const CASES: { readonly [K in keyof Required<BackendAuth>]: readonly [BackendAuth, readonly string[] | string] } = {
  key: [{ key }, ['proxy-authorization', 'Bearer planted-key']],
  location: [{ key, location: header }, ['x-key', 'planted-key']],
  credentials: [{ credentials: [{ key, location: header }] }, ['x-key', 'planted-key']],
  passthrough: [{ passthrough: true }, 'the credential of a client cannot be forwarded to the proxy'],
  cloudA: [{ cloudA: {} }, REFUSED('cloudA')],
  cloudB: [{ cloudB: {}, credentials: [{ key, location: header }] }, REFUSED('cloudB')],
  cloudC: [{ cloudC: { type: 'AccessToken' } }, REFUSED('cloudC')],
  oauthTokenExchange: [
    {
      oauthTokenExchange: {
        service: { backend: 'n/idp' },
        path: '/',
        grantType: 'TokenExchange',
        subjectToken: { tokenType: 'jwt' },
      },
    },
    REFUSED('oauthTokenExchange'),
  ],
  crossAppAccess: [
    { crossAppAccess: { identityProvider: endpoint, resourceAuthorizationServer: endpoint, audience: 'a' } },
    REFUSED('crossAppAccess'),
  ],
}

it.each(Object.entries(CASES))('%s', (_, [auth, expected]) => {
  expect(wayWith(auth)).toEqual(expected)
})

it('a secret that is missing', () => {
  expect(wayWith({ key: { secret: 'n/other' } })).toBe('secret n/other is missing, or is not a valid header value')
})
