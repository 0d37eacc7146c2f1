// The credential JSON of cloudC that a Secret contains. Its author may be a tenant: hosts, files and commands in it are
// limited before the vendor's library gets it, as the vendor's documentation requires for external credentials.
import { isAbsolute, normalize } from 'node:path'
import { isRecord, parseJson } from '../json.ts'

export interface AuthorizedUser {
  readonly type: 'authorized_user'
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
}

export interface ServiceAccount {
  readonly type: 'service_account'
  readonly email: string
  readonly key: string
  readonly keyId?: string | undefined
}

export interface ExternalAccount {
  readonly type: 'external_account'
  readonly audience: string
  readonly subjectTokenType: string
  readonly tokenUrl: string
  /** Where the platform puts the token of the workload. */
  readonly file: string
  /** The field of the file if it is JSON; the whole file otherwise. */
  readonly field?: string | undefined
  readonly impersonationUrl?: string | undefined
  readonly lifetimeSeconds?: number | undefined
}

export interface Impersonated {
  readonly type: 'impersonated_service_account'
  readonly source: AuthorizedUser | ServiceAccount | ExternalAccount
  readonly principal: string
  readonly delegates: readonly string[]
}

export type CloudCCredential = AuthorizedUser | ServiceAccount | ExternalAccount | Impersonated

/** A key of 4096 bits has 3.3 KiB; a Secret may have 1 MiB. */
const JSON_LENGTH_MAX = 64 * 1024
const DELEGATES_MAX = 16
const URL_LENGTH_MAX = 256
/** The vendor's limits for tokens of impersonated accounts, in seconds. */
const LIFETIME = { min: 600, max: 43_200 }
/** Folders in which platforms put tokens of workloads: the only files that a Secret may name. */
export const TOKEN_FOLDERS = ['/var/run/service-account/', '/var/run/secrets/tokens/'] as const

/** Endpoints for tokens. Other hosts of the vendor are rejected: some of them serve content of tenants. */
const HOSTS: ReadonlySet<string> = new Set([
  'accounts.google.com',
  'iamcredentials.googleapis.com',
  'oauth2.googleapis.com',
  'sts.googleapis.com',
  'www.googleapis.com',
])

const ACCOUNT = /^[A-Za-z0-9._@-]{1,200}$/
const IMPERSONATION = /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):generateAccessToken$/

class Unusable extends Error {}

/** The credential, or its fault, without any value of it. */
export function parseCredential(text: string): CloudCCredential | { readonly problem: string } {
  try {
    if (text.length > JSON_LENGTH_MAX) throw new Unusable(`is longer than ${JSON_LENGTH_MAX} characters`)
    return credentialOf(contentOf(text))
  } catch (error) {
    if (error instanceof Unusable) return { problem: `the credential ${error.message}` }
    throw error
  }
}

/** The fault of a credential JSON for tokens of this type, without any value of it; undefined: none. */
export function credentialProblem(text: string, type: 'AccessToken' | 'IdToken'): string | undefined {
  const parsed = parseCredential(text)
  if ('problem' in parsed) return parsed.problem
  return type === 'IdToken' ? idTokenProblem(parsed) : undefined
}

/** @returns the reason why this credential gives no ID tokens, or undefined */
export function idTokenProblem(credential: CloudCCredential): string | undefined {
  const { type } = credential.type === 'impersonated_service_account' ? credential.source : credential
  return type === 'external_account' ? 'external_account gives no ID tokens: use AccessToken' : undefined
}

/** Whether a URL is one of a token endpoint of the vendor. */
export function isVendorUrl(url: URL): boolean {
  const { protocol, hostname, port, username, password } = url
  if (protocol !== 'https:' || port !== '' || username !== '' || password !== '') return false
  return HOSTS.has(hostname) || /^sts\.[a-z0-9-]+\.rep\.googleapis\.com$/.test(hostname)
}

function contentOf(text: string): Record<string, unknown> {
  const json = parseJson(text)
  if (json === undefined) throw new Unusable('is not valid JSON')
  return objectOf(json, 'the content')
}

function credentialOf(json: Record<string, unknown>): CloudCCredential {
  if (json['type'] !== 'impersonated_service_account') return sourceOf(json)
  const url = vendorUrl(json, 'service_account_impersonation_url')
  const delegates = json['delegates'] ?? []
  if (!Array.isArray(delegates) || delegates.length > DELEGATES_MAX || !delegates.every(isDelegate)) {
    throw new Unusable(`has invalid delegates: at most ${DELEGATES_MAX} names of accounts`)
  }
  const source = sourceOf(objectOf(json['source_credentials'], 'source_credentials'))
  return { type: 'impersonated_service_account', source, principal: principalOf(url), delegates }
}

function sourceOf(json: Record<string, unknown>): AuthorizedUser | ServiceAccount | ExternalAccount {
  const { universe_domain: universe = 'googleapis.com' } = json
  if (universe !== 'googleapis.com') throw new Unusable('has an unsupported universe_domain: use googleapis.com')
  switch (json['type']) {
    case 'authorized_user':
      optionalVendorUrl(json, 'token_uri')
      return {
        type: 'authorized_user',
        clientId: textOf(json, 'client_id'),
        clientSecret: textOf(json, 'client_secret'),
        refreshToken: textOf(json, 'refresh_token'),
      }
    case 'service_account':
      optionalVendorUrl(json, 'token_uri')
      return {
        type: 'service_account',
        email: textOf(json, 'client_email'),
        key: textOf(json, 'private_key'),
        ...(json['private_key_id'] !== undefined && { keyId: textOf(json, 'private_key_id') }),
      }
    case 'external_account':
      return externalOf(json)
    default:
      throw new Unusable(
        'has an unsupported type: use authorized_user, service_account, impersonated_service_account or external_account',
      )
  }
}

function externalOf(json: Record<string, unknown>): ExternalAccount {
  const source = objectOf(json['credential_source'], 'credential_source')
  const other = ['url', 'executable', 'certificate', 'environment_id'].find((name) => source[name] !== undefined)
  if (other !== undefined) {
    throw new Unusable(`has credential_source.${other}, which a Secret may not name: use credential_source.file`)
  }
  const file = textOf(source, 'file')
  if (!isAbsolute(file) || normalize(file) !== file || !TOKEN_FOLDERS.some((folder) => file.startsWith(folder))) {
    throw new Unusable(`has a credential_source.file outside of ${TOKEN_FOLDERS.join(' and ')}`)
  }
  const impersonation = optionalVendorUrl(json, 'service_account_impersonation_url')
  if (impersonation !== undefined) principalOf(impersonation)
  const format = source['format'] === undefined ? {} : objectOf(source['format'], 'credential_source.format')
  const lifetime = lifetimeOf(json)
  return {
    type: 'external_account',
    audience: textOf(json, 'audience'),
    subjectTokenType: textOf(json, 'subject_token_type'),
    tokenUrl: vendorUrl(json, 'token_url').href,
    file,
    ...(format['type'] === 'json' && { field: textOf(format, 'subject_token_field_name') }),
    ...(impersonation !== undefined && { impersonationUrl: impersonation.href }),
    ...(lifetime !== undefined && { lifetimeSeconds: lifetime }),
  }
}

function lifetimeOf(json: Record<string, unknown>): number | undefined {
  const settings = json['service_account_impersonation']
  if (settings === undefined) return undefined
  const seconds = objectOf(settings, 'service_account_impersonation')['token_lifetime_seconds']
  if (seconds === undefined) return undefined
  if (typeof seconds !== 'number' || seconds < LIFETIME.min || seconds > LIFETIME.max) {
    throw new Unusable(`has an invalid token_lifetime_seconds: use ${LIFETIME.min} to ${LIFETIME.max}`)
  }
  return seconds
}

function principalOf(url: URL): string {
  const principal = IMPERSONATION.exec(url.pathname)?.[1]
  if (url.host !== 'iamcredentials.googleapis.com' || principal === undefined || !ACCOUNT.test(principal)) {
    throw new Unusable('has an invalid service_account_impersonation_url')
  }
  return principal
}

function isDelegate(value: unknown): value is string {
  return typeof value === 'string' && ACCOUNT.test(value.replace('projects/-/serviceAccounts/', ''))
}

function optionalVendorUrl(json: Record<string, unknown>, name: string): URL | undefined {
  return json[name] === undefined ? undefined : vendorUrl(json, name)
}

function vendorUrl(json: Record<string, unknown>, name: string): URL {
  const text = textOf(json, name)
  const url = text.length > URL_LENGTH_MAX ? null : URL.parse(text)
  if (url === null || !isVendorUrl(url))
    throw new Unusable(`has a ${name} that is not an https URL of a token endpoint of the vendor`)
  return url
}

function textOf(json: Record<string, unknown>, name: string): string {
  const value = json[name]
  if (typeof value !== 'string' || value === '') throw new Unusable(`has no ${name}`)
  return value
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (!isRecord(value)) throw new Unusable(`has no object as ${name}`)
  return value
}
