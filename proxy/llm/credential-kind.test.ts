// Which credentials Anthropic gets where the policy writes them, and which as `x-api-key`.
import { expect, it } from 'vitest'
import type { BackendAuth, OAuthEndpoint } from '#api/ir/types.gen.ts'
import { HeaderList } from '../message/headers.ts'
import { credentialKind } from './credential-kind.ts'
import { anthropic } from './providers/anthropic.ts'

const key = { secret: 'n/key' }
const header = { header: { name: 'authorization', prefix: 'Bearer ' } }
const endpoint: OAuthEndpoint = {
  service: { backend: 'n/idp' },
  path: '/',
  clientAuth: { clientId: 'c', method: 'ClientSecretPost' },
}

const CASES: { readonly [K in keyof Required<BackendAuth>]: readonly [BackendAuth, 'authorization' | 'x-api-key'] } = {
  key: [{ key }, 'x-api-key'],
  location: [{ key, location: header }, 'authorization'],
  passthrough: [{ passthrough: true }, 'x-api-key'],
  credentials: [{ credentials: [{ key, location: { cookie: { name: 'a' } } }] }, 'x-api-key'],
  // Has a value of another form in `authorization`.
  cloudA: [{ cloudA: {} }, 'x-api-key'],
  cloudB: [{ cloudB: {} }, 'authorization'],
  cloudC: [{ cloudC: { type: 'AccessToken' } }, 'authorization'],
  oauthTokenExchange: [
    {
      oauthTokenExchange: {
        service: { backend: 'n/idp' },
        path: '/',
        grantType: 'TokenExchange',
        subjectToken: { tokenType: 'jwt' },
      },
    },
    'authorization',
  ],
  crossAppAccess: [
    { crossAppAccess: { identityProvider: endpoint, resourceAuthorizationServer: endpoint, audience: 'a' } },
    'authorization',
  ],
}

it.each(Object.entries(CASES))('a bearer beside %s', (_, [auth, place]) => {
  const headers = HeaderList.of([['authorization', 'Bearer planted']])
  anthropic.prepareHeaders(headers, credentialKind(auth), undefined)
  expect([headers.has('authorization'), headers.has('x-api-key')]).toEqual([
    place === 'authorization',
    place === 'x-api-key',
  ])
})

it('a bearer of the client', () => {
  expect(credentialKind(undefined)).toBe('Key')
})
