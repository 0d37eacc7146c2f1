// Sends an access or ID token for Google Cloud (data plane, section 8.4). Without an audience, ID tokens are for the
// host of the backend, never for one that a request names.
import { credentialProblem } from '#api/credentials/cloud-c.ts'
import type { BackendAuth } from '#api/ir/types.gen.ts'
import { audienceFor, cloudCSource } from '../../credentials/cloud-c/cloud-c.ts'
import { bearerOf } from './bearer.ts'
import type { AuthEnvironment, AuthKind, BrokenAuth } from './kind.ts'

type Block = NonNullable<BackendAuth['cloudC']>

export const cloudC: AuthKind = ({ cloudC: block }, environment) => {
  if (block === undefined) return undefined
  const { type, secretRef } = block
  const audience = type === 'IdToken' ? audienceOf(block, environment) : undefined
  if (audience !== undefined && typeof audience !== 'string') return audience
  const given = secretRef === undefined ? undefined : credentialOf(block, secretRef, environment)
  if (given !== undefined && typeof given !== 'string') return given
  const owner = secretRef?.secret ?? 'environment of the proxy'
  return bearerOf('cloudC', cloudCSource({ type, audience, credential: given, owner }), environment)
}

function audienceOf({ audience }: Block, { backendHost }: Pick<AuthEnvironment, 'backendHost'>): string | BrokenAuth {
  if (audience !== undefined) return audience
  if (backendHost !== undefined) return audienceFor(backendHost)
  return { problem: 'cloudC: the backend has no host name for the audience of ID tokens; set audience' }
}

function credentialOf(
  { type }: Block,
  ref: NonNullable<Block['secretRef']>,
  { secret }: Pick<AuthEnvironment, 'secret'>,
): string | BrokenAuth {
  const text = secret(ref)
  if (text === undefined || text.trim() === '') return { problem: `secret ${ref.secret} is missing or empty` }
  const problem = credentialProblem(text, type)
  return problem === undefined ? text : { problem: `secret ${ref.secret}: ${problem}` }
}
