// Keys and region of the environment of the proxy: variables, shared files, web identity (IRSA), container credentials
// (EKS Pod Identity, ECS) and instance metadata, in the order of the vendor's library, which owns their addresses.
import { TokenError, type TokenSource } from '../token.ts'
import type { AccessKeys } from './access-keys.ts'
import { failureOf, inTime, SILENT, tokenOf } from './fetch.ts'

/** Keys without an end, as in variables and shared files, are read again after this time. */
const WITHOUT_END_MS = 15 * 60_000

/** Of each attempt to reach a metadata server. */
const METADATA_TIMEOUT_MS = 1000
const STS_TIMEOUT_MS = 4000

const WHAT = 'AWS credentials of the environment'

export function ambientKeys(): TokenSource<AccessKeys> {
  return {
    key: 'cloudA/ambient',
    name: { kind: 'cloudA', owner: 'environment of the proxy' },
    async fetch(signal) {
      try {
        return tokenOf(WHAT, await inTime(WHAT, signal, readChain), WITHOUT_END_MS)
      } catch (error) {
        throw failureOf(WHAT, error)
      }
    },
  }
}

/** A new chain for each fetch: chains of the library keep what they have read. */
async function readChain() {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers')
  const chain = fromNodeProviderChain({
    timeout: METADATA_TIMEOUT_MS,
    maxRetries: 0,
    logger: SILENT,
    clientConfig: {
      maxAttempts: 1,
      logger: SILENT,
      requestHandler: { connectionTimeout: METADATA_TIMEOUT_MS, requestTimeout: STS_TIMEOUT_MS },
    },
  })
  const keys = await chain()
  // Keys of instance metadata that have expired get a later end from the library.
  const end =
    'originalExpiration' in keys && keys.originalExpiration instanceof Date ? keys.originalExpiration : undefined
  return { ...keys, expiration: end ?? keys.expiration }
}

let region: Promise<string> | undefined

/**
 * `AWS_REGION`, `AWS_DEFAULT_REGION`, or the region of the profile in the shared files. Read once.
 *
 * @throws {TokenError} if there is none
 */
export function ambientRegion(): Promise<string> {
  region ??= readRegion().catch((error: unknown) => {
    region = undefined
    throw error instanceof TokenError ? error : new TokenError('Unavailable', 'the environment has no AWS region')
  })
  return region
}

async function readRegion(): Promise<string> {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env
  const given = [AWS_REGION, AWS_DEFAULT_REGION].find((name) => name !== undefined && name !== '')
  if (given !== undefined) return given
  const { STSClient } = await import('@aws-sdk/client-sts')
  const client = new STSClient({ logger: SILENT })
  try {
    return await client.config.region()
  } finally {
    client.destroy()
  }
}
