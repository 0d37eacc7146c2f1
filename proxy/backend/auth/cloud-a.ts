// Signs requests for AWS with keys of a Secret, of a role, or of the environment. The signature is made when head and
// body are final.
import type { BackendAuth, SecretRef } from '#api/ir/types.gen.ts'
import { evaluate, readsBody } from '../../cel/evaluate.ts'
import type { AccessKeys } from '../../credentials/cloud-a/access-keys.ts'
import { ambientKeys, ambientRegion } from '../../credentials/cloud-a/ambient.ts'
import { roleKeys } from '../../credentials/cloud-a/assume-role.ts'
import { type SessionRule, sessionOf } from '../../credentials/cloud-a/session.ts'
import { SIGNATURE_FIELDS, signatureFields, withoutPlus } from '../../credentials/cloud-a/signature.ts'
import { TokenError } from '../../credentials/token.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { HeaderList } from '../../message/headers.ts'
import type { RequestSigner, SignableRequest } from '../../message/request-signer.ts'
import type { AuthEnvironment, AuthKind, BrokenAuth } from './kind.ts'
import { tokenFor } from './sent-token.ts'

type CloudA = NonNullable<BackendAuth['cloudA']>

/** For backends without one of their own (data-plane §8.4). */
const DEFAULT_SERVICE = 'bedrock'

/** What the client may have sent there is no part of the signature, and `x-amz-date` stands in for `date`. */
const REMOVED = [...SIGNATURE_FIELDS, 'date'] as const

const CLIENT = 'the request could not be signed'

const REFUSALS: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'UnrecognizedClientException',
])

/** Keys for a signature of that region. May reject with a TokenError. */
type KeysFor = (region: string) => AccessKeys | Promise<AccessKeys>

/** Where the keys of a request come from, or why the request is rejected. */
type KeysOf = (exchange: Exchange) => KeysFor | { readonly problem: string }

interface CompiledKeys {
  readonly note: string
  readonly keysOf: KeysOf
  readonly readsRequestBody?: boolean
}

export const cloudA: AuthKind = ({ cloudA: block }, environment) => {
  if (block === undefined) return undefined
  const compiled = compileKeys(block, environment)
  if ('problem' in compiled) return compiled
  const { note, keysOf, readsRequestBody = false } = compiled
  return {
    note,
    readsRequestBody,
    request: (exchange) => {
      const { request } = exchange
      // Before anything can fail: nothing of the client's takes the place of the signature.
      request.signer = undefined
      for (const name of REMOVED) request.headers.remove(name)
      request.query = withoutPlus(request.query)
      const keysFor = keysOf(exchange)
      if ('problem' in keysFor) {
        return exchange.fail('backendAuthFailed', { log: `cloudA: ${keysFor.problem}`, client: CLIENT })
      }
      request.signer = signerOf(block, keysFor)
      return undefined
    },
  }
}

function compileKeys(block: CloudA, environment: AuthEnvironment): CompiledKeys | BrokenAuth {
  if (block.secretRef !== undefined) return keysOfSecret(block.secretRef, environment)
  if (block.assumeRole !== undefined) return keysOfRole(block.assumeRole, environment)
  const { tokens } = environment
  const source = ambientKeys()
  return {
    note: 'signs for AWS with keys of the environment',
    keysOf: (exchange) => async () => (await tokenFor(exchange, tokens, { source, isRefusedBy })).value,
  }
}

function keysOfSecret(
  refs: NonNullable<CloudA['secretRef']>,
  { secret }: Pick<AuthEnvironment, 'secret'>,
): CompiledKeys | BrokenAuth {
  // Secrets made from files often end with a newline.
  const read = (ref: SecretRef): string => secret(ref)?.trim() ?? ''
  const missing = Object.values(refs).filter((ref) => read(ref) === '')
  if (missing.length > 0) {
    return { problem: missing.map((ref) => `secret ${ref.secret} is missing or empty`).join(', ') }
  }
  const { accessKey, secretKey, sessionToken } = refs
  const keys: AccessKeys = {
    accessKeyId: read(accessKey),
    secretAccessKey: read(secretKey),
    ...(sessionToken !== undefined && { sessionToken: read(sessionToken) }),
  }
  return { note: `signs for AWS with the keys of ${accessKey.secret}`, keysOf: () => () => keys }
}

function keysOfRole(role: NonNullable<CloudA['assumeRole']>, environment: AuthEnvironment): CompiledKeys | BrokenAuth {
  const { tokens, expression } = environment
  const rule: SessionRule = {
    name: role.sessionNameExpression === undefined ? role.sessionName : expression(role.sessionNameExpression),
    tags: (role.tags ?? []).map(({ key, value, expression: source }) => ({
      key,
      value: source === undefined ? (value ?? '') : expression(source),
    })),
  }
  const computed = [rule.name, ...rule.tags.map(({ value }) => value)].filter((one) => typeof one === 'object')
  const base = ambientKeys()
  return {
    note: `signs for AWS with keys of the role ${role.roleRef}`,
    readsRequestBody: readsBody(computed, 'request'),
    keysOf: (exchange) => {
      const made = sessionOf(rule, (one) => evaluate(one, exchange))
      if ('problem' in made) return made
      return async (region) => {
        const { roleRef, externalId } = role
        const source = roleKeys({ role: roleRef, externalId, region, session: made.session }, { base, tokens })
        return (await tokenFor(exchange, tokens, { source, isRefusedBy })).value
      }
    },
  }
}

/** Services of AWS answer with 400 or 403 to keys that ended or were withdrawn; the type may name a namespace too. */
function isRefusedBy({ status, headers }: { readonly status: number; readonly headers: HeaderList }): boolean {
  if (status === 401) return true
  if (status !== 400 && status !== 403) return false
  const type = headers.get('x-amzn-errortype')?.split(':', 1)[0] ?? ''
  return REFUSALS.has(type.slice(type.lastIndexOf('#') + 1))
}

function signerOf({ serviceName, region }: CloudA, keysFor: KeysFor): RequestSigner {
  const sign = async (request: SignableRequest) => {
    const scope = { service: serviceName ?? DEFAULT_SERVICE, region: region ?? (await ambientRegion()) }
    const keys = await keysFor(scope.region)
    return { fields: await signatureFields(request, keys, scope, new Date()) }
  }
  return (request) =>
    sign(request).catch((error: unknown) => ({
      // Other errors come from libraries, whose messages may quote the request.
      problem: `cloudA: ${error instanceof TokenError ? error.message : 'the signature failed'}`,
    }))
}
