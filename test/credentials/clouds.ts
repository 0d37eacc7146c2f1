// Credentials of the three clouds for tests: metadata servers on loopback, which the environment of the workers names,
// and the `auth` of each cloud with what a backend then gets.
import { vi } from 'vitest'
import { managed } from '#proxy/credentials/cloud-b/endpoints.testing.ts'
import { granted, metadataServer } from '#proxy/credentials/cloud-c/endpoints.testing.ts'
import { CloudEndpoints } from '#proxy/credentials/cloud-endpoints.testing.ts'

export interface Cloud {
  /** Of resources. */
  readonly auth: object
  /** `backendAuth` of standalone files. */
  readonly standalone: object
  /** `authorization` that the backend gets. */
  readonly sent: RegExp
}

/** Of resources, in the Secret `keys`. */
export const AWS_KEYS = { accessKey: 'planted-access-key', secretKey: 'planted-secret-key' } as const

export const CLOUDS: Readonly<Record<string, Cloud>> = {
  aws: {
    auth: { cloudA: { secretRef: { name: 'keys' }, region: 'eu-west-1', serviceName: 'execute-api' } },
    standalone: {
      aws: {
        accessKeyId: AWS_KEYS.accessKey,
        secretAccessKey: AWS_KEYS.secretKey,
        region: 'eu-west-1',
        serviceName: 'execute-api',
      },
    },
    sent: /^AWS4-HMAC-SHA256 Credential=planted-access-key\/\d{8}\/eu-west-1\/execute-api\/aws4_request, /,
  },
  azure: {
    auth: { cloudB: { managedIdentity: { clientId: 'c', objectId: '', resourceId: '' } } },
    standalone: { azure: { explicitConfig: { managedIdentity: { clientId: 'c' } } } },
    sent: /^Bearer planted-azure-token$/,
  },
  google: { auth: { cloudC: {} }, standalone: { gcp: {} }, sent: /^Bearer planted-google-token$/ },
}

const TOKENS = { azure: 'planted-azure-token', google: 'planted-google-token' }

/**
 * Call it before workers start. `vi.unstubAllEnvs` restores the environment.
 *
 * @param home an empty folder, in which the libraries find no settings
 */
export async function startClouds(home: string, tokens = TOKENS): Promise<CloudEndpoints> {
  const clouds = new CloudEndpoints()
  await clouds.start()
  clouds.on('169.254.169.254/metadata/identity/oauth2/token', () => managed(tokens.azure))
  metadataServer(clouds, () => granted(tokens.google))
  const environment = {
    AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${clouds.authority}`,
    AZURE_TENANT_ID: '',
    AZURE_CLIENT_ID: '',
    GCE_METADATA_HOST: clouds.authority,
    METADATA_SERVER_DETECTION: 'assume-present',
    GOOGLE_APPLICATION_CREDENTIALS: '',
    HOME: home,
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  return clouds
}
