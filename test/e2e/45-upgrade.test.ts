// Newer CRDs replace older ones: stored objects stay unchanged and active. The older ones are the current CRDs without
// one field.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { send, until } from './suite/client.ts'
import { get, type KubeObject, kubectl, remove, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, serviceOf, themeFile, useSample } from './suite/samples.ts'

const URL_ = `http://${serviceOf('auth')}/`
const FILE = 'config/crd/gw.dev_gwpolicies.yaml'

const RULES = 'x-kubernetes-validations'

interface Schema {
  readonly properties: Record<string, Schema>
  [RULES]: readonly { readonly rule: string }[]
}
interface Crd {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] }
}

/** The CRD without `spec.traffic.delay`, as in an older version. */
function older(): string {
  const crd = parse(readFileSync(FILE, 'utf8')) as Crd // our own file
  const traffic = crd.spec.versions[0]?.schema.openAPIV3Schema.properties['spec']?.properties['traffic']
  expect(traffic?.properties['delay']).toBeDefined()
  delete traffic?.properties['delay']
  if (traffic !== undefined) traffic[RULES] = traffic[RULES].filter(({ rule }) => !rule.includes('delay'))
  return stringify(crd)
}

const apply = ['apply', '--server-side', '--force-conflicts']
const withDelay = JSON.stringify({ spec: { traffic: { delay: { duration: '1ms' } } } })
const patch = ['patch', 'gwpolicy', '-n', NAMESPACE, 'auth', '--type', 'merge', '-p', withDelay]

async function isEnforced(): Promise<void> {
  const headers = { authorization: 'Bearer bob-key' }
  await until({ url: URL_, headers }, { status: 200 })
  expect((await send({ url: URL_ })).status).toBe(401)
}

beforeAll(async () => {
  await kubectl([...apply, '-f', '-'], older())
  await useSample('auth')
})

afterAll(async () => {
  await kubectl([...apply, '-k', 'config/crd'])
  await remove(themeFile('auth'))
})

describe('upgrade of the kinds', () => {
  it('keeps stored objects, and accepts the new field afterwards', async () => {
    await isEnforced()
    const before = await get('gwpolicy', NAMESPACE, 'auth')
    await kubectl([...apply, '-k', 'config/crd'])
    const same = ({ metadata, spec }: KubeObject): unknown => [metadata.uid, metadata.generation, spec]
    const after = await get('gwpolicy', NAMESPACE, 'auth')
    expect(after && same(after)).toEqual(before && same(before))
    await isEnforced()
    await waitFor('the new field to be kept', async () => {
      await kubectl(patch)
      const object = await get('gwpolicy', NAMESPACE, 'auth')
      return JSON.stringify(object?.spec).includes('delay') ? true : undefined
    })
    await isEnforced()
    const crd = await get('crd', '', 'gwpolicies.gw.dev')
    expect(crd?.status?.['storedVersions']).toEqual(['v1alpha1'])
  })
})
