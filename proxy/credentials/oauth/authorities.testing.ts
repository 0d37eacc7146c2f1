// An identity provider and the authorization server of an application, written to RFC 6749, 7523, 8693 and
// draft-ietf-oauth-identity-assertion-authz-grant, for tests; not used by the proxy.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwtVerify, SignJWT } from 'jose'
import type { CrossAppAccess } from '#api/ir/types.gen.ts'

export const APPLICATION = 'https://app.test'
export const PROVIDER = 'https://idp.test'

/** Of the policy below. */
export const CROSS_APP_SECRETS = { 'n/idp/clientSecret': 'idp-secret', 'n/app/clientSecret': 'app-secret' }

/** A policy for both authorities, by the keys of their backends. */
export function crossAppAccess(backends: { readonly provider: string; readonly application: string }): CrossAppAccess {
  return {
    identityProvider: {
      service: { backend: backends.provider },
      path: '/token',
      clientAuth: { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: { secret: 'n/idp/clientSecret' } },
    },
    resourceAuthorizationServer: {
      service: { backend: backends.application },
      path: '/token',
      clientAuth: {
        clientId: 'gateway-at-app',
        method: 'ClientSecretPost',
        secretRef: { secret: 'n/app/clientSecret' },
      },
    },
    audience: APPLICATION,
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

export interface Authority {
  readonly port: number
  readonly forms: URLSearchParams[]
  /** Set: replaces the next answers. */
  override: ((response: ServerResponse) => void) | undefined
  close(): void
}

const providerKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** An ID token as the provider issues it to the client of the proxy. */
export function idToken(subject: string, expiresInS = 3600, claims: object = {}): Promise<string> {
  return new SignJWT({ ...claims, sub: subject })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(PROVIDER)
    .setAudience('client-app')
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + expiresInS)
    .sign(providerKeys.privateKey)
}

/** Client `gateway` with secret `idp-secret` by ClientSecretBasic. */
export function identityProvider(): Promise<Authority> {
  return authority(async (form, request) => {
    const [id, secret] = basicOf(request)
    if (id !== 'gateway' || secret !== 'idp-secret') return refused(401, 'invalid_client')
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange') {
      return refused(400, 'unsupported_grant_type')
    }
    const isIdToken = form.get('subject_token_type') === 'urn:ietf:params:oauth:token-type:id_token'
    const isForAssertion = form.get('requested_token_type') === 'urn:ietf:params:oauth:token-type:id-jag'
    if (!isIdToken || !isForAssertion || form.getAll('audience').length !== 1) return refused(400, 'invalid_request')
    let subject: string | undefined
    try {
      const { payload } = await jwtVerify(form.get('subject_token') ?? '', providerKeys.publicKey, { issuer: PROVIDER })
      subject = payload.sub
    } catch {
      return refused(400, 'invalid_grant')
    }
    const claims = {
      jti: randomUUID(),
      client_id: 'gateway-at-app',
      scope: form.get('scope'),
      resource: form.getAll('resource'),
    }
    const assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt' })
      .setIssuer(PROVIDER)
      .setSubject(subject ?? '')
      .setAudience(form.get('audience') ?? '')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(providerKeys.privateKey)
    return {
      status: 200,
      body: {
        access_token: assertion,
        issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        token_type: 'N_A',
        expires_in: 300,
      },
    }
  })
}

/** Client `gateway-at-app` with secret `app-secret` by ClientSecretPost. Tokens are `at <subject> <scope> <number>`. */
export function applicationServer(): Promise<Authority> {
  let issued = 0
  return authority(async (form) => {
    if (form.get('client_id') !== 'gateway-at-app' || form.get('client_secret') !== 'app-secret') {
      return refused(401, 'invalid_client')
    }
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return refused(400, 'unsupported_grant_type')
    }
    try {
      const options = { issuer: PROVIDER, audience: APPLICATION, typ: 'oauth-id-jag+jwt' }
      const { payload } = await jwtVerify(form.get('assertion') ?? '', providerKeys.publicKey, options)
      if (payload['client_id'] !== form.get('client_id')) return refused(400, 'invalid_grant')
      issued++
      const token = ['at', payload.sub, form.get('scope')?.replaceAll(' ', '+') ?? 'none', issued].join('.')
      return { status: 200, body: { access_token: token, token_type: 'Bearer', expires_in: 600 } }
    } catch {
      return refused(400, 'invalid_grant')
    }
  })
}

/** `token-exchange` of RFC 8693 and `jwt-bearer` of RFC 7523. Tokens are `ex.<subject>.<number>`, for 600 seconds. */
export function exchangeServer(): Promise<Authority> {
  let issued = 0
  return authority(async (form, request) => {
    const [id, secret] = basicOf(request)
    if (id !== 'gateway' || secret !== 'sts-secret') return refused(401, 'invalid_client')
    const fault = exchangeFault(form)
    if (fault !== undefined) return refused(400, fault)
    const isBearer = form.has('assertion')
    try {
      const subject = await jwtVerify(form.get(isBearer ? 'assertion' : 'subject_token') ?? '', providerKeys.publicKey)
      if (form.has('actor_token')) await jwtVerify(form.get('actor_token') ?? '', providerKeys.publicKey)
      issued++
      const body = { access_token: `ex.${subject.payload.sub}.${issued}`, token_type: 'Bearer', expires_in: 600 }
      const type = form.get('requested_token_type') ?? 'urn:ietf:params:oauth:token-type:access_token'
      return { status: 200, body: isBearer ? body : { ...body, issued_token_type: type } }
    } catch {
      return refused(400, 'invalid_grant')
    }
  })
}

function exchangeFault(form: URLSearchParams): string | undefined {
  const grant = form.get('grant_type')
  if (grant === 'urn:ietf:params:oauth:grant-type:jwt-bearer') return undefined
  if (grant !== 'urn:ietf:params:oauth:grant-type:token-exchange') return 'unsupported_grant_type'
  const isComplete = form.has('subject_token_type') && form.has('actor_token') === form.has('actor_token_type')
  return isComplete ? undefined : 'invalid_request'
}

type Endpoint = (form: URLSearchParams, request: IncomingMessage) => Promise<Answer>

async function authority(endpoint: Endpoint): Promise<Authority> {
  const forms: URLSearchParams[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const form = new URLSearchParams(body)
      forms.push(form)
      if (own.override !== undefined) own.override(response)
      else void endpoint(form, request).then((answer) => send(response, answer))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const own: Authority = {
    port: (server.address() as AddressInfo).port,
    forms,
    override: undefined,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return own
}

export function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

function refused(status: number, error: string): Answer {
  return { status, body: { error, error_description: 'planted-description' } }
}

function basicOf({ headers }: IncomingMessage): string[] {
  const pair = Buffer.from((headers.authorization ?? '').slice('Basic '.length), 'base64').toString()
  return pair.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
}
