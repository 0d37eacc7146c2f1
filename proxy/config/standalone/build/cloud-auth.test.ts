// Mistakes in credentials of clouds in a standalone file. Valid ones: testdata/aws.in.yaml and azure-gcp.in.yaml.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadStandalone } from '../load.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-cloud-auth-'))
  writeFileSync(join(folder, 'empty'), '\n')
})

afterEach(() => rmSync(folder, { recursive: true }))

/** `severity path: message`, the path below `backendAuth`. */
function problems(backendAuth: string): string[] {
  const text = `gateways: { default: { port: 8080 } }
routes:
- backends: [{ host: "a:1", policies: { backendAuth: ${backendAuth} } }]
`
  const loaded = loadStandalone({ path: join(folder, 'f.yaml'), text, environment: {} })
  return loaded.problems.map(
    ({ severity, path, message }) => `${severity} ${path.split('.backendAuth.')[1] ?? path}: ${message}`,
  )
}

const SECRET = 'azure: { explicitConfig: { clientSecret: '
const EXTERNAL = JSON.stringify({
  type: 'external_account',
  audience: 'planted',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  credential_source: { file: '/var/run/service-account/token' },
})

it.each([
  ['{ aws: { accessKeyId: a } }', /^error aws: must have both accessKeyId and secretAccessKey, or neither$/],
  [
    '{ aws: { accessKeyId: " ", secretAccessKey: b } }',
    /^warning aws\.accessKeyId: is empty; all requests that use it/,
  ],
  [
    '{ aws: { accessKeyId: a, secretAccessKey: { file: empty } } }',
    /^warning aws\.secretAccessKey: is empty; all requests that use it are rejected$/,
  ],
  [
    `{ ${SECRET}{ client_id: a, client_secret: b } } } }`,
    /^error azure\.explicitConfig\.clientSecret\.tenant_id: is required/,
  ],
  [
    `{ ${SECRET}{ client_id: a, tenant_id: t, client_secret: { file: absent } } } } }`,
    /^error azure\.explicitConfig\.clientSecret\.client_secret\.file: .*absent cannot be read: it does not exist$/,
  ],
  [
    `{ ${SECRET}{ client_id: a, tenant_id: t, client_secret: { file: empty } } } } }`,
    /^warning azure\.explicitConfig\.clientSecret\.client_secret: is empty; all requests that use it are rejected$/,
  ],
  [
    '{ gcp: { credential: { file: empty } } }',
    /^warning gcp\.credential: is empty; all requests that use it are rejected$/,
  ],
  [
    '{ gcp: { credential: planted } }',
    /^warning gcp\.credential: the credential is not valid JSON; all requests that use it are rejected$/,
  ],
  [
    `{ gcp: { credential: '{"type":"service_account","client_email":"planted"}' } }`,
    /^warning gcp\.credential: the credential has no private_key; all requests/,
  ],
  [
    `{ gcp: { type: idToken, credential: '${EXTERNAL}' } }`,
    /^warning gcp\.credential: external_account gives no ID tokens: use AccessToken; all requests/,
  ],
  ['{ gcp: { audience: "https://a" } }', /^error gcp: must have type idToken beside audience$/],
])('reports the mistake in %s', (backendAuth, expected) => {
  const found = problems(backendAuth)
  expect(found).toEqual([expect.stringMatching(expected)])
  expect(found[0]).not.toContain('planted')
})

it('accepts the credential for access tokens that gives no ID tokens', () => {
  expect(problems(`{ gcp: { credential: '${EXTERNAL}' } }`)).toEqual([])
})
