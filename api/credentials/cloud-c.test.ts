import { expect, it } from 'vitest'
import { isVendorUrl, parseCredential } from './cloud-c.ts'

const USER = { type: 'authorized_user', client_id: 'c', client_secret: 'planted-s', refresh_token: 'planted-r' }
const ACCOUNT = { type: 'service_account', client_email: 'a@b', private_key: 'planted-k' }
const EXTERNAL = {
  type: 'external_account',
  audience: '//iam.googleapis.com/x',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  credential_source: { file: '/var/run/service-account/token' },
}
const IMPERSONATION = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken'
const OTHER = {
  type: 'impersonated_service_account',
  service_account_impersonation_url: IMPERSONATION,
  source_credentials: USER,
}

function problemOf(value: unknown): string | undefined {
  const result = parseCredential(typeof value === 'string' ? value : JSON.stringify(value))
  if (!('problem' in result)) return undefined
  expect(result.problem).not.toMatch(/planted/)
  return result.problem
}

it.each([
  ['a user', USER],
  ['a user with the endpoint of the vendor', { ...USER, token_uri: 'https://oauth2.googleapis.com/token' }],
  ['a user with the older endpoint', { ...USER, token_uri: 'https://accounts.google.com/o/oauth2/token' }],
  ['an account', { ...ACCOUNT, private_key_id: 'k', universe_domain: 'googleapis.com' }],
  ['a workload', EXTERNAL],
  [
    'a workload with a regional endpoint',
    { ...EXTERNAL, token_url: 'https://sts.europe-west1.rep.googleapis.com/v1/token' },
  ],
  ['a workload that uses an account', { ...EXTERNAL, service_account_impersonation_url: IMPERSONATION }],
  ['a user that uses an account', OTHER],
  ['an account that uses an account through others', { ...OTHER, source_credentials: ACCOUNT, delegates: ['a@b'] }],
])('accepts %s', (_, value) => {
  expect(problemOf(value)).toBeUndefined()
})

it.each([
  ['not valid JSON', '{"planted', 'is not valid JSON'],
  ['a list', [], 'has no object as the content'],
  ['no type', {}, 'has an unsupported type'],
  ['a program', { type: 'external_account_authorized_user' }, 'has an unsupported type'],
  ['more than 64 KiB', 'x'.repeat(70_000), 'is longer than 65536 characters'],
  ['no refresh token', { ...USER, refresh_token: '' }, 'has no refresh_token'],
  ['a key that is not text', { ...ACCOUNT, private_key: 7 }, 'has no private_key'],
  ['another universe', { ...ACCOUNT, universe_domain: 'planted.example' }, 'has an unsupported universe_domain'],
  ['an impersonated source', { ...OTHER, source_credentials: OTHER }, 'has an unsupported type'],
  ['no source', { ...OTHER, source_credentials: undefined }, 'has no object as source_credentials'],
  ['17 delegates', { ...OTHER, delegates: Array.from({ length: 17 }, () => 'a') }, 'has invalid delegates'],
  ['a delegate with a path', { ...OTHER, delegates: ['../x'] }, 'has invalid delegates'],
  [
    'a life of a second',
    { ...EXTERNAL, service_account_impersonation: { token_lifetime_seconds: 1 } },
    'has an invalid',
  ],
])('refuses %s', (_, value, problem) => {
  expect(problemOf(value)).toMatch(problem)
})

const HOSTS = [
  'http://oauth2.googleapis.com/token',
  'https://169.254.169.254/token',
  'http://169.254.169.254/token',
  'https://127.0.0.1/token',
  'https://kubernetes.default.svc/token',
  'https://evil.example/token',
  'https://oauth2.googleapis.com.evil.example/token',
  'https://evilgoogleapis.com/token',
  'https://planted.storage.googleapis.com/token',
  'https://storage.googleapis.com/token',
  'https://oauth2.googleapis.com@evil.example/token',
  'https://user:planted@oauth2.googleapis.com/token',
  'https://oauth2.googleapis.com:8443/token',
  'file:///etc/passwd',
  'not a URL',
  `https://sts.googleapis.com/${'a'.repeat(300)}`,
]

it.each(HOSTS)('rejects the URL %s in every field', (url) => {
  expect(problemOf({ ...USER, token_uri: url })).toMatch('has a token_uri that is not')
  expect(problemOf({ ...ACCOUNT, token_uri: url })).toMatch('has a token_uri that is not')
  expect(problemOf({ ...EXTERNAL, token_url: url })).toMatch('has a token_url that is not')
  expect(problemOf({ ...EXTERNAL, service_account_impersonation_url: url })).toMatch('impersonation_url that is not')
  expect(problemOf({ ...OTHER, service_account_impersonation_url: url })).toMatch('impersonation_url that is not')
  expect(problemOf({ ...OTHER, source_credentials: { ...USER, token_uri: url } })).toMatch(
    'has a token_uri that is not',
  )
  const parsed = URL.parse(url)
  if (parsed !== null && url.length < 200) expect(isVendorUrl(parsed)).toBe(false)
})

it.each([
  'https://sts.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken',
  'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a%2Fb:generateAccessToken',
  'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:signBlob',
  'https://iamcredentials.googleapis.com/v1/other',
])('refuses to use the account of %s', (url) => {
  expect(problemOf({ ...OTHER, service_account_impersonation_url: url })).toMatch('has an invalid service_account')
})

it.each([
  [{ url: 'http://169.254.169.254/metadata' }, 'credential_source.url'],
  [{ executable: { command: '/bin/sh' } }, 'credential_source.executable'],
  [{ certificate: {} }, 'credential_source.certificate'],
  [{ environment_id: 'aws1', region_url: 'http://169.254.169.254/' }, 'credential_source.environment_id'],
  [{ file: '/var/run/service-account/token', url: 'https://sts.googleapis.com' }, 'credential_source.url'],
  [{ file: '/etc/passwd' }, 'credential_source.file outside of'],
  [{ file: '/proc/self/environ' }, 'credential_source.file outside of'],
  [{ file: '/var/run/secrets/kubernetes.io/serviceaccount/token' }, 'credential_source.file outside of'],
  [{ file: '/var/run/service-account/../secrets/x' }, 'credential_source.file outside of'],
  [{ file: 'token' }, 'credential_source.file outside of'],
  [{}, 'has no file'],
])('refuses the subject token of %j', (credentialSource, problem) => {
  expect(problemOf({ ...EXTERNAL, credential_source: credentialSource })).toMatch(problem)
})
