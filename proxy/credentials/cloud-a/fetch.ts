// What all fetches of keys share: their libraries are loaded by the first one, and their failures name no secret.
import { TokenError, type Token } from '../token.ts'
import { untilAborted } from '../until-aborted.ts'
import type { AccessKeys } from './access-keys.ts'

/** Keys as the libraries return them. */
export interface FetchedKeys {
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: string | undefined
  readonly sessionToken?: string | undefined
  readonly expiration?: Date | undefined
}

/** The libraries log to the console by default; what they have to say may name a secret. */
export const SILENT = { trace: drop, debug: drop, info: drop, warn: drop, error: drop }

function drop(): void {
  // On purpose.
}

/** @throws {TokenError} for keys that are incomplete or past their end. */
export function tokenOf(what: string, fetched: FetchedKeys, validMs: number): Token<AccessKeys> {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = fetched
  if (accessKeyId === undefined || secretAccessKey === undefined || accessKeyId === '' || secretAccessKey === '') {
    throw new TokenError('Unavailable', `${what}: the answer has no key pair`)
  }
  const expiresMs = expiration === undefined ? Date.now() + validMs : expiration.getTime()
  if (!(expiresMs > Date.now())) throw new TokenError('Unavailable', `${what}: the keys have expired`)
  return { value: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }, expiresMs }
}

/**
 * The failure of a library. Its message may quote files, commands or tokens, so only the name of the error is kept, and
 * the host that could not be reached.
 */
export function failureOf(what: string, error: unknown): TokenError {
  if (error instanceof TokenError) return error
  const cause = error instanceof Error ? [codeOf(error), ...hostOf(error)].join(' ') : 'unknown error'
  return new TokenError(isRefusal(error) ? 'Rejected' : 'Unavailable', `${what}: ${cause}`)
}

/** Rejects at the abort, whether the work can be aborted or not. */
export function inTime<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return untilAborted(signal, work, () => new TokenError('Unavailable', `${what}: no answer in time`))
}

const CODE = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const HOST = /^[A-Za-z0-9.:-]{1,253}$/
/** The library has this error for a chain without a usable source, and for files that lack an entry. */
const NO_SOURCE = 'CredentialsProviderError'

function codeOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  if (code === NO_SOURCE) return 'no source has usable keys'
  return CODE.test(code) ? code : 'Error'
}

/** Of an error of the resolver or of a socket. */
function hostOf(error: Error): string[] {
  const host = 'hostname' in error ? error.hostname : 'address' in error ? error.address : undefined
  return typeof host === 'string' && HOST.test(host) ? [host] : []
}

/** An answer with a status of 400 to 499. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 && status !== 429
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined
  const { $metadata: metadata } = error
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}
