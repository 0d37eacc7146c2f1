// Every field of `auth` in every place of a resource: `gw` accepts it, and the proxy gets the same in each place. The
// table is compared with the schema, so that a new field fails until it is here.
// @module-tag full
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { loadSource } from '#cli/source.ts'
import { type KeyPair, certificateFor } from '#test/certificates.ts'
import { policySchema, type Schema, settingsOf, valuesBelow } from '../policy-coverage/settings.ts'
import { firstOf } from '../run/table.ts'
import { manifests, PLACES, service } from './places.ts'

const ref = (key?: string): object => ({ group: '', kind: 'Secret', name: 'keys', ...(key !== undefined && { key }) })
const header = { header: { name: 'x-key', prefix: 'Key ' } }
const sts = { group: '', kind: 'Service', name: 'sts', namespace: 'auth', port: 80 }
const SIGNED = {
  clientId: 'gateway',
  method: 'PrivateKeyJwt',
  privateKeyJwt: {
    signingKeyRef: ref('signingKey'),
    alg: 'ES256',
    kid: 'k1',
    assertionAudience: 'https://issuer.example/token',
    certificateRef: ref('certificate'),
    certificateHeader: 'x5t#S256',
  },
}
const WITH_SECRET = { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: ref('clientSecret') }
const CACHE = { inMemory: { maxEntries: 100, defaultTtl: '60s' } }
const EVERY_SOURCE = [
  { header: { name: 'x-token', prefix: 'Bearer ' } },
  { cookie: { name: 'token' } },
  { queryParameter: { name: 'token' } },
  { expression: 'request.headers["x-token"]' },
]

const CREDENTIAL_JSON = JSON.stringify({
  type: 'authorized_user',
  client_id: 'id',
  client_secret: 'planted-secret',
  refresh_token: 'planted-refresh-token',
})

const exchange = (auth: object): object => ({ oauthTokenExchange: { backendRef: sts, ...auth } })
const crossApp = (source: object, client: object): object => ({
  crossAppAccess: {
    identityProvider: { backendRef: sts, path: '/token', clientAuth: client },
    resourceAuthorizationServer: { backendRef: sts, path: '/oauth/token', clientAuth: client },
    audience: 'https://server.example',
    resources: ['https://app.example'],
    scopes: ['read'],
    subjectToken: { source },
    cache: CACHE,
  },
})

const AUTHS: readonly object[] = [
  { key: 'planted-key', location: header },
  { secretRef: ref('one'), location: { queryParameter: { name: 'k' } } },
  { secretRef: ref('one'), location: { cookie: { name: 'k' } } },
  ...[header, { queryParameter: { name: 'k' } }, { cookie: { name: 'k' } }].map((location) => ({
    passthrough: { location },
  })),
  {
    credentials: [header, { queryParameter: { name: 'k' } }, { cookie: { name: 'k' } }].map((location) => ({
      secretRef: ref('two'),
      location,
    })),
  },
  { cloudA: { secretRef: ref(), serviceName: 'bedrock', region: 'eu-west-1' } },
  {
    cloudA: {
      assumeRole: {
        roleRef: 'arn:aws:iam::123456789012:role/gateway',
        externalId: 'customer-7',
        sessionName: 'gateway',
        tags: [
          { key: 'cost', value: '42' },
          { key: 'user', expression: 'request.headers["x-user"]' },
        ],
      },
    },
  },
  {
    cloudA: {
      assumeRole: {
        roleRef: 'arn:aws:iam::123456789012:role/gateway',
        sessionNameExpression: 'request.headers["x-user"]',
      },
    },
  },
  { cloudB: { secretRef: ref() } },
  { cloudB: { managedIdentity: { clientId: 'c', objectId: '', resourceId: '' } } },
  { cloudB: { workloadIdentity: {} } },
  { cloudC: { type: 'AccessToken', secretRef: ref('credentials.json') } },
  { cloudC: { type: 'IdToken', audience: 'https://service.example' } },
  ...EVERY_SOURCE.map((source, at) =>
    exchange({
      path: '/oauth/token',
      grantType: 'TokenExchange',
      subjectToken: { source, tokenType: 'Jwt' },
      actorToken: { source: EVERY_SOURCE.at(at - 1), tokenType: 'Jwt', mayAct: 'Required' },
      audiences: ['backend'],
      scopes: ['read'],
      resources: ['https://backend.example/'],
      requestedTokenType: 'AccessToken',
      additionalParams: { tenant: 'request.headers["x-tenant"]' },
      clientAuth: at === 0 ? SIGNED : WITH_SECRET,
      location: at === 0 ? header : at === 1 ? { cookie: { name: 'k' } } : { queryParameter: { name: 'k' } },
      cache: CACHE,
    }),
  ),
  ...EVERY_SOURCE.map((source, at) => crossApp(source, at === 0 ? SIGNED : WITH_SECRET)),
]

let pair: KeyPair
let folder: string

beforeAll(() => {
  pair = certificateFor({ commonName: 'gateway' })
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-fields-test-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function secretEntries(): Record<string, string> {
  const words = ['one', 'two', 'accessKey', 'secretKey', 'sessionToken', 'clientID', 'tenantID', 'clientSecret']
  return {
    ...Object.fromEntries(words.map((word) => [word, `planted-${word}`])),
    'credentials.json': CREDENTIAL_JSON,
    signingKey: pair.privateKey,
    certificate: pair.certificate,
  }
}

/** The token service is in a namespace of its own, whose owner permits the references. */
function tokenService(): object[] {
  const from = ['GwPolicy', 'GwBackend', 'GwModel'].map((kind) => ({ group: 'gw.dev', kind, namespace: 'default' }))
  const grant = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ReferenceGrant',
    metadata: { name: 'sts', namespace: 'auth' },
    spec: { from, to: [{ group: '', kind: 'Service' }] },
  }
  const there = service('sts', 8080).map((object) => {
    const { metadata } = object as { metadata: object } // a manifest
    return { ...object, metadata: { ...metadata, namespace: 'auth' } }
  })
  return [...there, grant]
}

function documentsFor(auth: object): string {
  const all = parseAllDocuments(manifests({ auth, keys: secretEntries(), http: 8080, port: 8081 }))
  const isServed = (object: { kind: string }): boolean => object.kind !== 'GwModel' || !('crossAppAccess' in auth)
  const objects = all.map((document) => document.toJS() as { kind: string }).filter(isServed)
  return [...objects, ...tokenService()].map((object) => stringify(object)).join('---\n')
}

/** Each `auth` anywhere in it. */
function authsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => (name === 'auth' ? [part] : authsIn(part)))
}

const schemaAt = (schema: Schema | undefined, ...path: readonly string[]): Schema | undefined =>
  path.reduce<Schema | undefined>((found, name) => found?.properties?.[name], schema)

describe('auth', () => {
  firstOf(4)(AUTHS.map((auth): [string, object] => [JSON.stringify(auth).slice(0, 60), auth]))(
    'is accepted and delivered alike in each place: %s',
    async (_, auth) => {
      const file = join(folder, 'manifests.yaml')
      writeFileSync(file, documentsFor(auth))
      const source = await loadSource(file)
      if ('problem' in source) throw new Error(source.problem)
      expect(source.problems).toEqual([])
      const { backends = [], policies = [] } = source.rendered?.config ?? {}
      const rendered = [...authsIn(backends), ...authsIn(policies)]
      const isForModels = !('crossAppAccess' in auth)
      expect(rendered).toHaveLength(Object.keys(PLACES).length + (isForModels ? 1 : 0))
      // An inline key is delivered under the name of its object.
      const texts = rendered.map((one) => JSON.stringify(one).replace(/"Gw\w+\/[^"]*"/, '"inline"'))
      expect(new Set(texts)).toHaveProperty('size', 1)
    },
  )

  it('has all fields of the schema in the table', () => {
    const schema = schemaAt(policySchema(), 'backend', 'auth')
    const set = new Set(
      AUTHS.flatMap((auth) => valuesBelow({ auth }, 'auth', 'auth', schema)).map(({ setting }) => setting),
    )
    const missing = settingsOf(schema ?? {}, 'auth').filter(({ path }) => !set.has(path))
    expect(missing.map(({ path }) => path)).toEqual([])
  })

  it('has the same fields in a GwModel, apart from crossAppAccess', () => {
    const crd = parseAllDocuments(
      readFileSync(join(import.meta.dirname, '../../config/crd/gw.dev_gwmodels.yaml'), 'utf8'),
    )
    const [definition] = crd.map((document) => document.toJS() as Definition)
    const ofModels = schemaAt(definition?.spec.versions[0].schema.openAPIV3Schema, 'spec', 'policies', 'auth')
    const paths = (schema: Schema | undefined): string[] => settingsOf(schema ?? {}, 'auth').map(({ path }) => path)
    const ofPolicies = paths(schemaAt(policySchema(), 'backend', 'auth'))
    expect(paths(ofModels)).toEqual(ofPolicies.filter((path) => !path.startsWith('auth.crossAppAccess.')))
  })
})

interface Definition {
  readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }] }
}
