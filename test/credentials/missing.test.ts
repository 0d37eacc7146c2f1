// What `gw validate` reports if the Secret of a credential, or an entry of it, is missing: the path of the field in
// each place, and the name of the entry.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSource } from '#cli/source.ts'
import { manifests, PLACES } from './places.ts'

const secretRef = { name: 'keys' }
/** The entries that each cloud requires. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  cloudA: ['accessKey', 'secretKey'],
  cloudB: ['clientID', 'tenantID', 'clientSecret'],
  cloudC: ['credentials.json'],
}
const PATHS = [...Object.values(PLACES).map(({ at }) => at), 'spec.policies.auth']

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-missing-test-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

async function problems(auth: object, keys: Readonly<Record<string, string>> | undefined): Promise<string[]> {
  const file = join(folder, 'manifests.yaml')
  writeFileSync(file, manifests({ auth, keys, http: 8080, port: 8081 }))
  const source = await loadSource(file)
  if ('problem' in source) throw new Error(JSON.stringify(source.problem))
  return source.problems.map(({ severity, path, message }) => `${severity} ${path}: ${message}`).toSorted()
}

describe.each(Object.entries(ENTRIES))('%s', (cloud, entries) => {
  it('reports a missing Secret in each place', async () => {
    const expected = PATHS.map((path) => `error ${path}.${cloud}.secretRef: secret default/keys not found`)
    expect(await problems({ [cloud]: { secretRef } }, undefined)).toEqual(expected.toSorted())
  })

  it.each(entries)('reports a missing %s in each place', async (entry) => {
    const keys = Object.fromEntries(entries.filter((one) => one !== entry).map((one) => [one, 'planted-value']))
    const expected = PATHS.map((path) => `error ${path}.${cloud}.secretRef: secret default/keys missing ${entry} value`)
    expect(await problems({ [cloud]: { secretRef } }, { other: 'planted-value', ...keys })).toEqual(expected.toSorted())
  })
})

describe('oauthTokenExchange', () => {
  const backendRef = { name: 'models', port: 80 }
  const privateKeyJwt = { signingKeyRef: secretRef, assertionAudience: 'https://idp.example' }

  it.each([
    ['clientSecret', 'secretRef', { clientId: 'gateway', secretRef }],
    ['signingKey', 'privateKeyJwt.signingKeyRef', { clientId: 'gateway', method: 'PrivateKeyJwt', privateKeyJwt }],
  ])('reports a missing Secret and a missing %s in each place', async (entry, field, clientAuth) => {
    const auth = { oauthTokenExchange: { backendRef, clientAuth } }
    const expected = (message: string): string[] =>
      PATHS.map((path) => `error ${path}.oauthTokenExchange.clientAuth.${field}: ${message}`).toSorted()
    expect(await problems(auth, undefined)).toEqual(expected('secret default/keys not found'))
    expect(await problems(auth, { other: 'planted-value' })).toEqual(
      expected(`secret default/keys missing ${entry} value`),
    )
  })
})
