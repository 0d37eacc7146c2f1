import { describe, expect, it } from 'vitest'
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import { TEST_SETTINGS } from '../input.testing.ts'
import { type EffectiveParameters, effectiveParameters } from './effective.ts'

function parameters(spec: GwParametersSpec): GwParameters {
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata: { name: 'p', namespace: 'n' }, spec }
}

function effective(ofClass?: GwParametersSpec, ofGateway?: GwParametersSpec): EffectiveParameters {
  const level = (spec: GwParametersSpec | undefined): GwParameters | undefined =>
    spec === undefined ? undefined : parameters(spec)
  return effectiveParameters({ ofClass: level(ofClass), ofGateway: level(ofGateway) }, TEST_SETTINGS)
}

describe('effectiveParameters', () => {
  it('has defaults for everything', () => {
    expect(effective()).toEqual({
      workloadKind: 'Deployment',
      image: { registry: 'registry.example', repository: 'gw/gw', tag: 'v1.2.3' },
      env: [],
      resources: { requests: { cpu: '100m', memory: '128Mi' } },
      logging: {},
      shutdown: { min: 10, max: 60 },
      rawConfig: {},
      mesh: undefined,
      catalogs: [],
    })
  })

  it.each<[string, GwParametersSpec | undefined, GwParametersSpec | undefined, Partial<EffectiveParameters>]>([
    ['the kind of the class', { workload: { kind: 'DaemonSet' } }, undefined, { workloadKind: 'DaemonSet' }],
    [
      'the kind of the Gateway over it',
      { workload: { kind: 'DaemonSet' } },
      { workload: { kind: 'Deployment' } },
      { workloadKind: 'Deployment' },
    ],
    [
      'a kind that the Gateway leaves open',
      { workload: { kind: 'DaemonSet' } },
      { workload: {} },
      { workloadKind: 'DaemonSet' },
    ],
    [
      'the image field by field, empty counting as set',
      { image: { registry: 'a', digest: 'd', pullPolicy: 'Always' } },
      { image: { registry: '', tag: '' } },
      { image: { registry: '', repository: 'gw/gw', tag: '', digest: 'd', pullPolicy: 'Always' } },
    ],
    [
      'logging field by field',
      { logging: { level: 'debug', format: 'text' } },
      { logging: { format: 'json' } },
      { logging: { level: 'debug', format: 'json' } },
    ],
    [
      'shutdown as a whole',
      { shutdown: { min: 1, max: 2 } },
      { shutdown: { min: 3, max: 4 } },
      { shutdown: { min: 3, max: 4 } },
    ],
    ['shutdown of zero', undefined, { shutdown: { min: 0, max: 0 } }, { shutdown: { min: 0, max: 0 } }],
    ['rawConfig as a whole', { rawConfig: { a: 1 } }, { rawConfig: { b: 2 } }, { rawConfig: { b: 2 } }],
    ['rawConfig emptied', { rawConfig: { a: 1 } }, { rawConfig: {} }, { rawConfig: {} }],
    [
      'variables one by one, in the place of the class',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
      {
        env: [
          { name: 'C', value: '3' },
          { name: 'A', value: '' },
        ],
      },
      {
        env: [
          { name: 'A', value: '' },
          { name: 'B', value: '2' },
          { name: 'C', value: '3' },
        ],
      },
    ],
    [
      'requests and limits key by key',
      { resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } } },
      { resources: { requests: { cpu: '3' }, limits: { memory: '4Gi' } } },
      { resources: { requests: { cpu: '3', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } } },
    ],
    [
      'default requests beside limits',
      { resources: { limits: { cpu: '100m' } } },
      { resources: { limits: { memory: '1Gi' } } },
      { resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '100m', memory: '1Gi' } } },
    ],
    [
      // Above the limit of the user it would make the pod invalid.
      'no default request above a limit',
      undefined,
      { resources: { limits: { memory: '64Mi' } } },
      { resources: { requests: { cpu: '100m' }, limits: { memory: '64Mi' } } },
    ],
    [
      'no default requests where all limits are below',
      { resources: { limits: { cpu: '50m' } } },
      { resources: { limits: { memory: '64Mi' } } },
      { resources: { limits: { cpu: '50m', memory: '64Mi' } } },
    ],
    [
      'claims of the Gateway',
      { resources: { claims: [{ name: 'a' }] } },
      { resources: { claims: [{ name: 'b' }] } },
      {
        resources: { requests: { cpu: '100m', memory: '128Mi' }, claims: [{ name: 'b' }] },
      },
    ],
    [
      'no catalogues of the class',
      { modelCatalog: { sources: [{ configMap: { name: 'a' } }] } },
      undefined,
      { catalogs: [] },
    ],
    [
      'catalogues of the Gateway',
      undefined,
      { modelCatalog: { sources: [{ configMap: { name: 'a' } }] } },
      { catalogs: [{ configMap: { name: 'a' } }] },
    ],
  ])('takes %s', (_, ofClass, ofGateway, expected) => {
    expect(effective(ofClass, ofGateway)).toMatchObject(expected)
    for (const [field, value] of Object.entries(expected)) {
      expect(effective(ofClass, ofGateway)[field as keyof EffectiveParameters]).toEqual(value)
    }
  })
})
