// Policies with token endpoints for the test of planted secrets; their clients have secrets and keys.

/** Of the echo server, as a token endpoint. */
export const ISSUE_PATH = '/issue-token'

/** The echo server returns `{}`, which is not a token response. */
export const crossAppAccess = {
  audience: 'https://app.example',
  identityProvider: {
    service: { backend: 'default/echo' },
    path: '/token',
    clientAuth: {
      clientId: 'gateway',
      method: 'ClientSecretPost' as const,
      secretRef: { secret: 'planted/oauth-secret' },
    },
  },
  resourceAuthorizationServer: {
    service: { backend: 'default/echo' },
    path: '/token',
    clientAuth: {
      clientId: 'gateway',
      method: 'PrivateKeyJwt' as const,
      privateKeyJwt: {
        signingKeyRef: { secret: 'planted/signing-key' },
        alg: 'ES256' as const,
        assertionAudience: 'https://app.example/token',
        certificateRef: { secret: 'planted/certificate' },
        certificateHeader: 'x5c' as const,
      },
    },
  },
}

export const oauthTokenExchange = {
  service: { backend: 'default/echo' },
  path: ISSUE_PATH,
  grantType: 'TokenExchange' as const,
  subjectToken: { source: { header: { name: 'x-subject' } }, tokenType: 'AccessToken' },
  actorToken: { source: { queryParameter: { name: 'actor' } }, tokenType: 'AccessToken' },
  additionalParams: [{ name: 'again', expression: 'request.headers["x-subject"]' }],
  clientAuth: {
    clientId: 'gateway',
    method: 'ClientSecretBasic' as const,
    secretRef: { secret: 'planted/oauth-secret' },
  },
  location: { header: { name: 'x-issued' } },
}
