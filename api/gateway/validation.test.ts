// The Gateway API kinds are validated locally as by a real API server with the pinned CRDs. Fixtures in testdata/.
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiServer, apiServerScript, startApiServer, testPort } from '../v1alpha1/apiserver.testing.ts'
import { loadCrdKind } from '../v1alpha1/crd-schema.testing.ts'
import { compareKind } from '../v1alpha1/parity.testing.ts'
import { loadFixtureFile } from '../v1alpha1/testdata.testing.ts'
import { applyDefaults, validateObject } from '../validate/validate.ts'

const START_MS = 120_000
const KIND_MS = 300_000

const folder = join(import.meta.dirname, 'testdata')
const kinds = readdirSync(folder).map((name) => basename(name, '.yaml'))
const fixturesOf = (kind: string) => loadFixtureFile(join(folder, `${kind}.yaml`), kind)

const crds = join(import.meta.dirname, '../../.cache/gateway-api/experimental')
const crdOf = (kind: string): string => {
  const plural = kind.endsWith('policy') ? kind.replace(/y$/, 'ies') : kind.replace(/s$/, 'se').concat('s')
  return join(crds, `gateway.networking.k8s.io_${plural}.yaml`)
}

describe.each(kinds)('%s', (kind) => {
  it.each(fixturesOf(kind).map((fixture) => [fixture.title, fixture] as const))(
    '%s',
    (_, { object, oldObject, error }) => {
      const { problems } = validateObject(object, oldObject === undefined ? {} : { oldObject })
      if (error === undefined) expect(problems).toEqual([])
      else {
        const expected = { path: error.path, message: expect.stringContaining(error.message) }
        expect(problems).toContainEqual(expect.objectContaining(expected))
      }
    },
  )
})

describe('defaults', () => {
  it('are written as the API server writes them, without changing the object', () => {
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'r' },
      spec: { parentRefs: [{ name: 'gw' }], rules: [{ backendRefs: [{ name: 'b', port: 80 }] }] },
    }
    const before = structuredClone(route)
    expect(applyDefaults(route).spec).toEqual({
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' }],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ group: '', kind: 'Service', name: 'b', port: 80, weight: 1 }],
        },
      ],
    })
    expect(route).toEqual(before)
  })
})

const script = apiServerScript()
const isComplete = script !== undefined && existsSync(crds)
if (!isComplete)
  console.log('skipped: no API server (GW_APISERVER) or no Gateway API CRDs (hack/update-gateway-api.sh)')

describe.skipIf(!isComplete)('the API server', { tags: ['full'] }, () => {
  let server: ApiServer

  beforeAll(async () => {
    server = await startApiServer(script ?? '', testPort())
    await server.installCrds(kinds.map(crdOf))
  }, START_MS)

  afterAll(() => server.stop(), START_MS)

  it.each(kinds)(
    'agrees on %s',
    async (name) => {
      const kind = loadCrdKind(crdOf(name))
      const { differences } = await compareKind(server, { kind, fixtures: fixturesOf(name), scope: 'distinct' })
      expect(differences.join('\n')).toBe('')
    },
    KIND_MS,
  )
})
