// Access tokens of cloudB (specification, BackendAuth; data plane, section 8.4): of a client secret or certificate, a
// workload identity, a managed identity, or the first of these that works. The vendor's library fetches them; it is
// loaded when the first token is needed.
import { createHash } from 'node:crypto'
import type { TokenCredential } from '@azure/identity'
import { isRecord } from '#api/json.ts'
import { CLOUD_FETCH_MS, CloudFetch, checkedToken, type Fetch } from '../cloud-fetch.ts'
import { TokenError, type Token, type TokenSource } from '../token.ts'
import { admitsCloudB } from './endpoints.ts'
import { httpClient } from './http-client.ts'

export interface Application {
  readonly clientId: string
  readonly tenantId: string
  /** Its secret, or a certificate and its key as PEM. */
  readonly proof: { readonly secret: string } | { readonly certificate: string }
}

/** At most one; none is the identity that the system assigned. */
export interface ManagedIdentity {
  readonly clientId?: string | undefined
  readonly objectId?: string | undefined
  readonly resourceId?: string | undefined
}

/** At most one; without any, the chain of 8.4 finds the credential. */
export interface CloudB {
  readonly application?: Application | undefined
  readonly workloadIdentity?: boolean | undefined
  readonly managedIdentity?: ManagedIdentity | undefined
  readonly developerTools?: boolean | undefined
}

export interface CloudBSource {
  readonly credential: CloudB
  /** As scopeFor gives it. */
  readonly scope: string
  /** `namespace/name` of the policy or backend. */
  readonly owner: string
  /** Tests only: how requests are sent. */
  readonly send?: Fetch | undefined
}

type Library = typeof import('@azure/identity')
interface Attempt {
  readonly name: string
  /** Why it is not configured here, or undefined. */
  readonly lacks?: (() => string | undefined) | undefined
  readonly create: (library: Library, options: Options) => TokenCredential
}
interface Options {
  readonly httpClient: ReturnType<typeof httpClient>
  readonly retryOptions: { readonly maxRetries: 0 }
  readonly redirectOptions: { readonly maxRetries: 0 }
}

/** The scope of the tokens that a backend accepts; the host may have a port. */
export function scopeFor(host: string): string {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (name.endsWith('.services.ai.azure.com')) return 'https://ai.azure.com/.default'
  return 'https://cognitiveservices.azure.com/.default'
}

export function cloudBSource({ credential, scope, owner, send }: CloudBSource): TokenSource<string> {
  const attempts = attemptsOf(credential)
  /** The attempt of the chain that worked: data plane 8.4, "the first that works is remembered". */
  let chosen: Attempt | undefined = attempts.length === 1 ? attempts[0] : undefined
  return {
    key: createHash('sha256')
      .update(JSON.stringify(['cloudB', credential, scope]))
      .digest('base64url'),
    name: { kind: 'cloudB', owner },
    fetch: async (signal) => {
      // The deadline is for requests: on a busy machine, the library is loaded for seconds.
      const library = await import('@azure/identity')
      const cloud = new CloudFetch({ admits: admitsCloudB, signal, send })
      return await cloud.run(async () => {
        if (chosen !== undefined) return await fetchBy(chosen, { library, scope, cloud })
        const failures: string[] = []
        for (const attempt of attempts) {
          const lacks = attempt.lacks?.()
          if (lacks !== undefined) failures.push(`${attempt.name}: ${lacks}`)
          else {
            try {
              const token = await cloud.attempt(() => fetchBy(attempt, { library, scope, cloud }))
              chosen = attempt
              return token
            } catch (error) {
              if (!(error instanceof TokenError) || cloud.signal.aborted) throw error
              failures.push(`${attempt.name}: ${error.message}`)
            }
          }
        }
        throw new TokenError('Unavailable', `no credential of the chain works: ${failures.join('; ')}`)
      })
    },
  }
}

function attemptsOf({ application, workloadIdentity, managedIdentity, developerTools }: CloudB): readonly Attempt[] {
  if (application !== undefined) return [applicationAttempt('application', () => application)]
  if (workloadIdentity === true) return [WORKLOAD]
  if (managedIdentity !== undefined) return [managedAttempt(managedIdentity, false)]
  if (developerTools === true) return DEVELOPER_TOOLS
  return [ENVIRONMENT_SECRET, WORKLOAD, managedAttempt(environmentIdentity(), true), ...DEVELOPER_TOOLS]
}

async function fetchBy(
  attempt: Attempt,
  { library, scope, cloud }: { readonly library: Library; readonly scope: string; readonly cloud: CloudFetch },
): Promise<Token<string>> {
  const lacks = attempt.lacks?.()
  if (lacks !== undefined) throw new TokenError('Unavailable', `${attempt.name}: ${lacks}`)
  // A new credential for each token: it has no cache that could return the previous one.
  const credential = attempt.create(library, {
    httpClient: httpClient(cloud),
    retryOptions: { maxRetries: 0 },
    redirectOptions: { maxRetries: 0 },
  })
  const token = await credential.getToken(scope, { abortSignal: cloud.signal })
  return checkedToken(token?.token, token?.expiresOnTimestamp)
}

function applicationAttempt(name: string, read: () => Application, lacks?: Attempt['lacks']): Attempt {
  return {
    name,
    lacks,
    create: ({ ClientCertificateCredential, ClientSecretCredential }, options) => {
      const { tenantId, clientId, proof } = read()
      return 'secret' in proof
        ? new ClientSecretCredential(tenantId, clientId, proof.secret, options)
        : new ClientCertificateCredential(tenantId, clientId, proof, options)
    },
  }
}

const ENVIRONMENT_SECRET = applicationAttempt(
  'client secret of the environment',
  () => ({
    tenantId: process.env['AZURE_TENANT_ID'] ?? '',
    clientId: process.env['AZURE_CLIENT_ID'] ?? '',
    proof: { secret: process.env['AZURE_CLIENT_SECRET'] ?? '' },
  }),
  () => unset(['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET']),
)

const WORKLOAD: Attempt = {
  name: 'workload identity',
  lacks: () => unset(['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE']),
  create: ({ WorkloadIdentityCredential }, options) => new WorkloadIdentityCredential(options),
}

const DEVELOPER_TOOLS: readonly Attempt[] = [
  {
    name: 'Azure CLI',
    create: ({ AzureCliCredential }) => new AzureCliCredential({ processTimeoutInMs: CLOUD_FETCH_MS }),
  },
  {
    name: 'Azure Developer CLI',
    create: ({ AzureDeveloperCliCredential }) =>
      new AzureDeveloperCliCredential({ processTimeoutInMs: CLOUD_FETCH_MS }),
  },
]

/** @param probe first asks with a request that a metadata server answers at once, for at most 1 s */
function managedAttempt({ clientId, objectId, resourceId }: ManagedIdentity, probe: boolean): Attempt {
  return {
    name: 'managed identity',
    create: ({ ManagedIdentityCredential }, options) => {
      const own = { ...options, sendProbeRequest: probe }
      if (clientId !== undefined) return uncached(new ManagedIdentityCredential({ ...own, clientId }))
      if (objectId !== undefined) return uncached(new ManagedIdentityCredential({ ...own, objectId }))
      if (resourceId !== undefined) return uncached(new ManagedIdentityCredential({ ...own, resourceId }))
      return uncached(new ManagedIdentityCredential(own))
    },
  }
}

/**
 * The library of cloudB keeps these tokens for the whole process, also one that a backend refused. It keeps the HTTP
 * client of the first fetch as well, whose deadline is over.
 */
function uncached(credential: TokenCredential): TokenCredential {
  const application: unknown = Reflect.get(credential, 'managedIdentityApp')
  if (!isApplication(application)) throw new TokenError('Unavailable', 'unknown version of the library of cloudB')
  const acquire = application.acquireToken.bind(application)
  const shared = application.managedIdentityClient.constructor
  application.acquireToken = (request) => {
    // Nothing is awaited between here and the use of the client.
    Reflect.set(shared, 'identitySource', undefined)
    return acquire({ ...request, forceRefresh: true })
  }
  return credential
}

interface ManagedApplication {
  acquireToken: (request: object) => Promise<unknown>
  readonly managedIdentityClient: object
}

function isApplication(value: unknown): value is ManagedApplication {
  return (
    isRecord(value) &&
    typeof value['acquireToken'] === 'function' &&
    isRecord(value['managedIdentityClient']) &&
    'sendManagedIdentityTokenRequest' in value['managedIdentityClient']
  )
}

/** The chain uses the identity that the environment names, as the vendor's own chain does. */
function environmentIdentity(): ManagedIdentity {
  const clientId = process.env['AZURE_CLIENT_ID']
  return clientId === undefined || clientId === '' ? {} : { clientId }
}

function unset(names: readonly string[]): string | undefined {
  const missing = names.filter((name) => (process.env[name] ?? '') === '')
  return missing.length === 0 ? undefined : `${missing.join(', ')} not set`
}
