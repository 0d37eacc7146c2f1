// A real authorization server (oidc-provider) on loopback, for tests of tokens of token endpoints. The library checks
// clients, forms and parameters. The two grants that it does not have are registered here: token exchange (RFC 8693,
// also for identity assertions) and JWT bearer (RFC 7523).
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import { decodeJwt, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { closeServer, listening } from '#test/ports.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TYPE = 'urn:ietf:params:oauth:token-type:'
const TYPES = new Set(['access_token', 'jwt', 'id_token'].map((name) => TYPE + name))

/** The key of the clients that authenticate by `private_key_jwt`. */
export const clientKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const issuerKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** What is used of the library, which has no types. */
interface Library {
  readonly default: new (issuer: string, configuration: object) => Provider
  readonly errors: { readonly [name: string]: new (description: string) => Error }
}

interface Provider {
  registerGrantType(
    name: string,
    handler: (context: Context) => Promise<void>,
    params: readonly string[],
    repeated: readonly string[],
  ): void
  callback(): RequestListener
  readonly AccessToken: (new (fields: object) => { save(): Promise<string> }) & {
    find(token: string): Promise<IssuedAccess | undefined>
  }
}

interface Context {
  body: unknown
  readonly oidc: {
    readonly client: { readonly clientId: string }
    readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
  }
}

export interface IssuedAccess {
  readonly accountId: string
  readonly clientId: string
  readonly scope?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface OAuthProvider {
  readonly issuer: string
  readonly port: number
  /** Requests of the token endpoint so far. */
  readonly requests: number
  /** A JWT as the server issues it. */
  signed(claims: JWTPayload, expiresInS?: number): Promise<string>
  /** What the server knows about an access token: undefined if it has not issued it. */
  issued(token: string): Promise<IssuedAccess | undefined>
  stop(): void
}

const library = 'oidc-provider'

export async function startProvider(): Promise<OAuthProvider> {
  let requests = 0
  let listener: RequestListener | undefined
  const server: Server = createServer((request, response) => {
    if (request.url?.startsWith('/token') === true) requests++
    listener?.(request, response)
  })
  const port = await listening(server)
  const issuer = `http://127.0.0.1:${port}`
  const { default: Constructor, errors } = (await import(library)) as Library // as described above
  const provider = new Constructor(issuer, configuration())
  const signed = (claims: JWTPayload, expiresInS = 3600, typ = 'JWT'): Promise<string> =>
    new SignJWT({ jti: randomUUID(), ...claims })
      .setProtectedHeader({ alg: 'ES256', typ })
      .setIssuer(issuer)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + expiresInS)
      .sign(issuerKey.privateKey)
  const verified = async (token: unknown, options: object = {}): Promise<JWTPayload> => {
    try {
      return (await jwtVerify(String(token), issuerKey.publicKey, { issuer, ...options })).payload
    } catch {
      throw failure(errors, 'InvalidGrant')
    }
  }
  const access = async ({ oidc }: Context, subject: JWTPayload): Promise<object> => {
    const { client, params } = oidc
    const token = new provider.AccessToken({
      accountId: subject.sub,
      client,
      scope: params['scope'],
      gty: 'token_exchange',
    })
    return { access_token: await token.save(), token_type: 'Bearer', expires_in: 600 }
  }
  provider.registerGrantType(
    TOKEN_EXCHANGE,
    async (context) => {
      const { client, params } = context.oidc
      const { audience, actor_token: actor, requested_token_type: requested } = params
      if (!TYPES.has(String(params['subject_token_type']))) throw failure(errors, 'InvalidRequest')
      const subject = await verified(params['subject_token'])
      if (actor !== undefined) await verified(actor)
      if (requested === `${TYPE}id-jag`) {
        const claims = { sub: subject.sub ?? '', aud: String(audience), client_id: `${client.clientId}-at-app` }
        const assertion = await signed(claims, 300, 'oauth-id-jag+jwt')
        context.body = { access_token: assertion, issued_token_type: requested, token_type: 'N_A', expires_in: 300 }
        return
      }
      context.body = { ...(await access(context, subject)), issued_token_type: requested ?? `${TYPE}access_token` }
    },
    [
      'subject_token',
      'subject_token_type',
      'actor_token',
      'actor_token_type',
      'requested_token_type',
      'audience',
      'resource',
      'scope',
    ],
    ['audience', 'resource'],
  )
  provider.registerGrantType(
    JWT_BEARER,
    async (context) => {
      const { client, params } = context.oidc
      const isAtApp = client.clientId.endsWith('-at-app')
      const options = isAtApp ? { audience: `${issuer}/app`, typ: 'oauth-id-jag+jwt' } : {}
      const subject = await verified(params['assertion'], options)
      if (isAtApp && subject['client_id'] !== client.clientId) throw failure(errors, 'InvalidGrant')
      context.body = await access(context, subject)
    },
    ['assertion', 'scope'],
    [],
  )
  listener = provider.callback()
  return {
    issuer,
    port,
    get requests() {
      return requests
    },
    signed,
    issued: (token) => provider.AccessToken.find(token),
    stop: () => closeServer(server),
  }
}

function failure(errors: Library['errors'], name: string): Error {
  const Failure = errors[name]
  return Failure === undefined ? new Error(name) : new Failure('planted-description')
}

function configuration(): object {
  const grants = {
    grant_types: [TOKEN_EXCHANGE, JWT_BEARER],
    redirect_uris: [],
    response_types: [],
    id_token_signed_response_alg: 'ES256',
  }
  const secret = (id: string, method: string, value = `secret of ${id} & 100%`): object => ({
    ...grants,
    client_id: id,
    client_secret: value,
    token_endpoint_auth_method: method,
  })
  const jwks = { keys: [{ ...jwkOf(clientKey.publicKey), kid: 'key-1', alg: 'ES256', use: 'sig' }] }
  const signs = (id: string): object => ({
    ...grants,
    client_id: id,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks,
  })
  return {
    adapter: Stored,
    clients: [
      secret('basic', 'client_secret_basic'),
      secret('post', 'client_secret_post'),
      signs('signing'),
      secret('basic-at-app', 'client_secret_basic'),
      signs('signing-at-app'),
      // Of config/samples/credentials.
      secret('gateway', 'client_secret_basic', 'gateway-secret'),
    ],
    scopes: ['openid', 'orders.read', 'orders.write'],
    features: { devInteractions: { enabled: false } },
    enabledJWA: { clientAuthSigningAlgValues: ['ES256'] },
    cookies: { keys: [randomUUID()] },
    jwks: { keys: [{ ...jwkOf(issuerKey.privateKey), kid: 'issuer', alg: 'ES256', use: 'sig' }] },
    ttl: { AccessToken: 600 },
    extraTokenClaims: ({ oidc: { params } }: Context) => {
      const { audience, resource, actor_token: actor } = params
      return { audience, resource, ...(actor !== undefined && { act: decodeJwt(String(actor)).sub }) }
    },
  }
}

function jwkOf(key: KeyObject): object {
  return key.export({ format: 'jwk' })
}

/** What the server stores: access tokens, and the identifiers of assertions that were used. */
class Stored {
  readonly #values = new Map<string, unknown>()

  upsert(id: string, value: unknown): Promise<void> {
    this.#values.set(id, value)
    return Promise.resolve()
  }

  find(id: string): Promise<unknown> {
    return Promise.resolve(this.#values.get(id))
  }
}
