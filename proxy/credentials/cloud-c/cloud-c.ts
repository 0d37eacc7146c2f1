// Access and ID tokens of cloudC (specification, BackendAuth; data plane, section 8.4): of a credential JSON, or of the
// environment of this process. The vendor's library fetches them; it is loaded when the first token is needed.
import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import type { AuthClient, IdentityPoolClient, JWT, UserRefreshClient } from 'google-auth-library'
import { isRecord, parseJson, recordOf } from '#api/json.ts'
import { CloudFetch, checkedToken, type Fetch } from '../cloud-fetch.ts'
import { TokenError, type Token, type TokenSource } from '../token.ts'
import { unverifiedExpiryMs } from '../unverified-claims.ts'
import {
  type AuthorizedUser,
  type CloudCCredential,
  type ExternalAccount,
  idTokenProblem,
  type Impersonated,
  isVendorUrl,
  parseCredential,
  type ServiceAccount,
} from '#api/credentials/cloud-c.ts'

export interface CloudCSource {
  readonly type: 'AccessToken' | 'IdToken'
  /** IdToken only: for whom the token is; as audienceFor gives it. */
  readonly audience?: string | undefined
  /** Credential JSON of a Secret. Without it, the application default credentials of this process. */
  readonly credential?: string | undefined
  /** `namespace/name` of the policy or backend. */
  readonly owner: string
  /** Tests only: how requests are sent. */
  readonly send?: Fetch | undefined
}

type Library = typeof import('google-auth-library')
type Transport = InstanceType<Library['gaxios']['Gaxios']>

interface Fetching {
  readonly library: Library
  readonly transporter: Transport
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const IAM = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/'
/** What the vendor's library asks for; its longest without a setting of the organisation. */
const IMPERSONATED_SECONDS = 3600
const SUBJECT_TOKEN_BYTES_MAX = 64 * 1024

/** The audience of ID tokens for a backend, unless the policy names one. */
export function audienceFor(host: string): string {
  return `https://${host}`
}

export function cloudCSource({ type, audience, credential, owner, send }: CloudCSource): TokenSource<string> {
  const parsed = credential === undefined ? undefined : parseCredential(credential)
  const hashed = JSON.stringify(['cloudC', type, audience, credential])
  return {
    key: createHash('sha256').update(hashed).digest('base64url'),
    name: { kind: 'cloudC', owner },
    fetch: async (signal) => {
      if (parsed !== undefined && 'problem' in parsed) throw new TokenError('Rejected', parsed.problem)
      // The deadline is for requests: on a busy machine, the library is loaded for seconds.
      const library = await import('google-auth-library')
      // The administrator's environment may name other endpoints than those of the vendor; a Secret may not.
      const admits = parsed === undefined ? () => true : isVendorUrl
      const cloud = new CloudFetch({ admits, signal, send })
      return await cloud.run(async () => {
        const fetching = { library, transporter: transport(library, cloud) }
        if (type === 'AccessToken') {
          return parsed === undefined ? await ambientToken(fetching) : await accessToken(parsed, fetching)
        }
        if (audience === undefined) throw new TokenError('Rejected', 'an ID token needs an audience')
        return idToken(await idTokenOf({ parsed, audience, fetching }))
      })
    },
  }
}

/** One transport for all clients of a fetch. It writes no debug log, whatever the environment asks for. */
function transport({ gaxios }: Library, cloud: CloudFetch): Transport {
  return new gaxios.Gaxios({
    fetchImplementation: (input, init) =>
      cloud.fetch(input instanceof Request ? input.url : input, {
        ...(init?.method !== undefined && { method: init.method }),
        ...(init?.headers !== undefined && { headers: init.headers }),
        ...(init?.body !== undefined && { body: init.body }),
        ...(init?.signal !== undefined && { signal: init.signal }),
      }),
  })
}

async function ambientToken(fetching: Fetching): Promise<Token<string>> {
  return await tokenOf(await ambientClient(fetching))
}

/** Environment, file of the vendor's tools, metadata server: in the order of the library. */
async function ambientClient({ library, transporter }: Fetching): Promise<AuthClient> {
  const auth = new library.GoogleAuth({
    scopes: [SCOPE],
    // Otherwise the library starts a program to find one.
    projectId: 'unused',
    clientOptions: { transporter, useAuthRequestParameters: false },
  })
  try {
    return await auth.getClient()
  } catch (error) {
    // The library remembers for ever that there is no metadata server.
    library.gcpMetadata.resetIsAvailableCache()
    throw error
  }
}

async function accessToken(credential: CloudCCredential, fetching: Fetching): Promise<Token<string>> {
  if (credential.type !== 'impersonated_service_account') return await tokenOf(clientOf(credential, fetching))
  const { accessToken: value, expireTime } = await impersonate(credential, fetching, {
    method: 'generateAccessToken',
    body: { scope: [SCOPE], lifetime: `${IMPERSONATED_SECONDS}s` },
  })
  return checkedToken(value, typeof expireTime === 'string' ? Date.parse(expireTime) : undefined)
}

async function tokenOf(client: AuthClient): Promise<Token<string>> {
  const { token } = await client.getAccessToken()
  return checkedToken(token, client.credentials.expiry_date)
}

interface IdTokenOf {
  readonly parsed: CloudCCredential | undefined
  readonly audience: string
  readonly fetching: Fetching
}

async function idTokenOf({ parsed, audience, fetching }: IdTokenOf): Promise<unknown> {
  if (parsed === undefined) {
    const { library } = fetching
    const client = await ambientClient(fetching)
    const { Compute, JWT, UserRefreshClient, Impersonated } = library
    // The library puts it unescaped into the query of the metadata server.
    if (client instanceof Compute) return await client.fetchIdToken(encodeURIComponent(audience))
    if (client instanceof JWT || client instanceof UserRefreshClient || client instanceof Impersonated) {
      return await client.fetchIdToken(audience)
    }
    throw new TokenError('Rejected', 'the application default credentials give no ID tokens')
  }
  const problem = idTokenProblem(parsed)
  if (problem !== undefined) throw new TokenError('Rejected', problem)
  if (parsed.type === 'impersonated_service_account') {
    const call = { method: 'generateIdToken', body: { audience, includeEmail: true } } as const
    return (await impersonate(parsed, fetching, call))['token']
  }
  if (parsed.type === 'external_account') return undefined
  return await clientOf(parsed, fetching).fetchIdToken(audience)
}

/** ID tokens are JWTs; their own claim is their expiry. */
function idToken(value: unknown): Token<string> {
  return checkedToken(value, typeof value === 'string' ? unverifiedExpiryMs(value) : undefined)
}

interface Call {
  readonly method: 'generateAccessToken' | 'generateIdToken'
  readonly body: object
}

/** The API that the library calls as well; its client for it writes a warning for each token. */
async function impersonate(
  { source, principal, delegates }: Impersonated,
  fetching: Fetching,
  { method, body }: Call,
): Promise<Readonly<Record<string, unknown>>> {
  const { value } = await tokenOf(clientOf(source, fetching))
  const { data } = await fetching.transporter.request<unknown>({
    url: `${IAM}${encodeURIComponent(principal)}:${method}`,
    method: 'POST',
    headers: { authorization: `Bearer ${value}` },
    data: { ...body, delegates },
    responseType: 'json',
  })
  return recordOf(data)
}

function clientOf(credential: AuthorizedUser | ServiceAccount, fetching: Fetching): JWT | UserRefreshClient
function clientOf(
  credential: AuthorizedUser | ServiceAccount | ExternalAccount,
  fetching: Fetching,
): JWT | UserRefreshClient | IdentityPoolClient
function clientOf(
  credential: AuthorizedUser | ServiceAccount | ExternalAccount,
  { library, transporter }: Fetching,
): JWT | UserRefreshClient | IdentityPoolClient {
  const options = { transporter, useAuthRequestParameters: false }
  if (credential.type === 'external_account') return externalClient(credential, { library, transporter })
  if (credential.type === 'authorized_user') {
    const { clientId, clientSecret, refreshToken } = credential
    return new library.UserRefreshClient({ ...options, clientId, clientSecret, refreshToken })
  }
  const { email, key, keyId } = credential
  return new library.JWT({ ...options, email, key, ...(keyId !== undefined && { keyId }), scopes: [SCOPE] })
}

function externalClient(credential: ExternalAccount, { library, transporter }: Fetching): IdentityPoolClient {
  const { audience, subjectTokenType, tokenUrl, impersonationUrl, lifetimeSeconds } = credential
  const client = new library.IdentityPoolClient({
    transporter,
    useAuthRequestParameters: false,
    audience,
    subject_token_type: subjectTokenType,
    token_url: tokenUrl,
    scopes: [SCOPE],
    subject_token_supplier: { getSubjectToken: () => subjectToken(credential) },
    ...(impersonationUrl !== undefined && { service_account_impersonation_url: impersonationUrl }),
    ...(lifetimeSeconds !== undefined && {
      service_account_impersonation: { token_lifetime_seconds: lifetimeSeconds },
    }),
  })
  // The library gives this part a transport of its own.
  const exchange: unknown = Reflect.get(client, 'stsCredential')
  if (!isRecord(exchange) || !('transporter' in exchange)) {
    throw new TokenError('Unavailable', 'unknown version of the library of cloudC')
  }
  exchange['transporter'] = transporter
  return client
}

/** Platforms replace these files: read for each token. A link may not lead out of the folder's volume. */
async function subjectToken({ file, field }: ExternalAccount): Promise<string> {
  let text: string
  try {
    const path = await realpath(file)
    const folder = file.slice(0, file.lastIndexOf('/') + 1)
    const { size } = await stat(path)
    if (!path.startsWith(await realpath(folder)) || size > SUBJECT_TOKEN_BYTES_MAX) {
      throw new TokenError('Rejected', 'credential_source.file is too large or leads out of its folder')
    }
    text = (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof TokenError) throw error
    throw new TokenError('Unavailable', 'credential_source.file cannot be read', { cause: error })
  }
  if (field === undefined) return text
  const value = recordOf(parseJson(text))[field]
  if (typeof value !== 'string') throw new TokenError('Unavailable', 'credential_source.file has no such field')
  return value
}
