import { expect, it } from 'vitest'
import { loadManifests } from './load.ts'
import { type ManifestCatalogs, manifestCatalogs } from './model-catalogs.ts'

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: shop }
spec:
  gatewayClassName: gw
  infrastructure: { parametersRef: { group: gw.dev, kind: GwParameters, name: llm } }
  listeners: [{ name: http, port: 80, protocol: HTTP }]
`
const PARAMETERS = `
apiVersion: gw.dev/v1alpha1
kind: GwParameters
metadata: { name: llm, namespace: shop }
spec:
  modelCatalog:
    sources:
      - configMap: { name: prices }
      - configMap: { name: prices, key: more.json }
`

function prices(key: string, input: unknown): string {
  const catalog = JSON.stringify({ providers: { openai: { models: { m: { rates: { input } } } } } })
  return `
apiVersion: v1
kind: ConfigMap
metadata: { name: prices, namespace: shop }
data:
  ${key}: '${catalog}'
  more.json: '{"providers": {}}'
`
}

function catalogsOf(...documents: readonly string[]): ManifestCatalogs {
  const loaded = loadManifests([{ path: 'f.yaml', text: documents.join('---') }])
  expect(loaded.problems).toEqual([])
  return manifestCatalogs(loaded)
}

it('reads the ConfigMaps that the parameters of a Gateway name', () => {
  const { sources, problems } = catalogsOf(GATEWAY, PARAMETERS, prices('catalog.json', '2'))
  expect(problems).toEqual([])
  expect(sources?.map(({ name }) => name)).toEqual([
    'ConfigMap shop/prices, key catalog.json',
    'ConfigMap shop/prices, key more.json',
  ])
  expect(sources?.[0]?.catalog.get('openai')?.get('m')?.rates).toEqual({ input: 2_000_000n })
})

it('reads no parameters that no Gateway names, and parameters of two Gateways once', () => {
  expect(catalogsOf(PARAMETERS, prices('catalog.json', '2'))).toEqual({ sources: [], problems: [] })
  const other = GATEWAY.replace('name: web', 'name: other')
  expect(catalogsOf(GATEWAY, other, PARAMETERS, prices('catalog.json', '2')).sources).toHaveLength(2)
})

it('warns about a missing key, and reads the other sources', () => {
  const { sources, problems } = catalogsOf(GATEWAY, PARAMETERS, prices('other.json', '2'))
  expect(sources).toHaveLength(1)
  expect(problems).toMatchObject([
    {
      file: 'f.yaml',
      path: 'spec.modelCatalog.sources[0].configMap',
      message: 'ConfigMap shop/prices, key catalog.json not found: there are no prices from it',
      severity: 'warning',
    },
  ])
})

it('reports an invalid catalog, and offers no sources', () => {
  const { sources, problems } = catalogsOf(GATEWAY, PARAMETERS, prices('catalog.json', 2))
  expect(sources).toBeUndefined()
  expect(problems).toMatchObject([
    {
      message:
        'ConfigMap shop/prices, key catalog.json: providers.openai.models.m.rates.input: must be a string, not a number',
      severity: 'error',
    },
  ])
})
