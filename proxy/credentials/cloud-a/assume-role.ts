// Keys of an assumed role: AssumeRole of the Security Token Service (STS), called with keys of the environment.
import { createHash } from 'node:crypto'
import type { TokenSource, TokenStore } from '../token.ts'
import type { AccessKeys } from './access-keys.ts'
import { failureOf, inTime, SILENT, tokenOf } from './fetch.ts'
import type { Session } from './session.ts'

export interface AssumedRole {
  /** Resource name (ARN) of the role. */
  readonly role: string
  readonly externalId: string | undefined
  /** Region of the signature, whose STS is called. */
  readonly region: string
  readonly session: Session
}

export interface RoleEnvironment {
  /** Keys that assume the role. */
  readonly base: TokenSource<AccessKeys>
  readonly tokens: TokenStore
}

const CONNECT_TIMEOUT_MS = 2000
const REQUEST_TIMEOUT_MS = 4500

/** Of answers without an end; STS always returns one. */
const WITHOUT_END_MS = 15 * 60_000

const WHAT = 'AssumeRole'

/** STS answers so when the keys that called it are no longer valid. */
const BASE_REFUSED: ReadonlySet<string> = new Set(['ExpiredToken', 'ExpiredTokenException', 'InvalidClientTokenId'])

export function roleKeys(assumed: AssumedRole, { base, tokens }: RoleEnvironment): TokenSource<AccessKeys> {
  const { role } = assumed
  return {
    key: `cloudA/assumeRole/${digestOf(assumed)}`,
    name: { kind: 'cloudA', owner: role },
    async fetch(signal) {
      for (let isSecond = false; ; isSecond = true) {
        const basis = await tokens.get(base)
        try {
          const keys = await inTime(WHAT, signal, () => assume(assumed, basis.value, signal))
          return tokenOf(WHAT, keys, WITHOUT_END_MS)
        } catch (error) {
          const isRefused = error instanceof Error && BASE_REFUSED.has(error.name) && tokens.invalidate(base, basis)
          if (!isRefused || isSecond) throw failureOf(WHAT, error)
        }
      }
    },
  }
}

async function assume({ role, externalId, region, session }: AssumedRole, base: AccessKeys, signal: AbortSignal) {
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts')
  const client = new STSClient({
    region,
    credentials: base,
    maxAttempts: 1,
    logger: SILENT,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
  })
  try {
    const command = new AssumeRoleCommand({
      RoleArn: role,
      RoleSessionName: session.name,
      ...(externalId !== undefined && { ExternalId: externalId }),
      ...(session.tags.length > 0 && { Tags: session.tags.map(({ key, value }) => ({ Key: key, Value: value })) }),
    })
    const { Credentials: keys } = await client.send(command, { abortSignal: signal })
    return {
      accessKeyId: keys?.AccessKeyId,
      secretAccessKey: keys?.SecretAccessKey,
      sessionToken: keys?.SessionToken,
      expiration: keys?.Expiration,
    }
  } finally {
    client.destroy()
  }
}

/** Values of tags may come from tokens of clients, so the key has their hash only. */
function digestOf({ role, externalId, region, session }: AssumedRole): string {
  const tags = session.tags.map(({ key, value }) => [key, value])
  return createHash('sha256')
    .update(JSON.stringify([role, externalId, region, session.name, tags]))
    .digest('hex')
}
