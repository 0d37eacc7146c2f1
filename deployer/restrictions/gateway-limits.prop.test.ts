// Whatever overlays of a Gateway are put together: what is deployed differs from what the class alone gives in harmless
// fields only. The harmless fields are taken away here by hand, not with the code under test.
// @module-tag full
import {
  type Arbitrary,
  array,
  assert as check,
  constantFrom,
  dictionary,
  letrec,
  nat,
  oneof,
  property,
  record,
  tuple,
} from 'fast-check'
import { expect, it } from 'vitest'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployInput } from '../input.ts'
import { isJsonObject, type Json, jsonCopy, type JsonObject } from '../kube-object.ts'
import { renderDeployment } from '../render.ts'
import { NEW_KEY, TEST_SETTINGS } from '../input.testing.ts'
import { DEFAULT_RESTRICTIONS } from './defaults.ts'

const NAMES = ['gw', 'evil', 'tmp', 'config-volume', 'LOG', 'SESSION_KEY', 'NODE_OPTIONS']
const directive = constantFrom<Json>('delete', 'replace', 'merge')
const scalar = constantFrom<Json>(null, true, false, 0, 1, 'x', 'default', 'gw')
const value: Arbitrary<Json> = letrec<{ value: Json }>((tie) => ({
  value: oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalar,
    array(tie('value'), { maxLength: 2 }),
    dictionary(constantFrom('name', '$patch', 'path', 'image', 'add', 'limits', 'exec'), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value

const containers = named([
  'image',
  'command',
  'securityContext',
  'env',
  'resources',
  'volumeMounts',
  'ports',
  'lifecycle',
])
const podFields = record(
  {
    hostNetwork: value,
    serviceAccountName: value,
    securityContext: value,
    automountServiceAccountToken: value,
    nodeSelector: dictionary(constantFrom('a', 'b'), constantFrom('x', 'y')),
    volumes: named(['hostPath', 'projected', 'secret', 'emptyDir', 'configMap']),
    containers,
    initContainers: containers,
    $patch: directive,
  },
  { requiredKeys: [] },
)
const overlay = record(
  {
    replicas: nat(5),
    selector: value,
    template: record({ metadata: value, spec: podFields, $patch: directive }, { requiredKeys: [] }),
    $patch: directive,
  },
  { requiredKeys: [] },
)

function named(fields: readonly string[]): Arbitrary<Json[]> {
  const item = tuple(constantFrom(...NAMES), dictionary(constantFrom(...fields, '$patch'), value, { maxKeys: 3 })).map(
    ([name, rest]): Json => ({ ...rest, name }),
  )
  return array(item, { maxLength: 3 })
}

function input(gatewayParameters: GwParameters | undefined): DeployInput {
  return {
    gateway: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'tenant', uid: '1' },
      spec: { gatewayClassName: 'gw', listeners: [] },
    },
    gatewayClass: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    gatewayParameters,
    ports: [80],
    meshListeners: [],
    settings: { ...TEST_SETTINGS, restrictions: DEFAULT_RESTRICTIONS },
    sessionKey: { state: 'absent', newKey: NEW_KEY },
  }
}

const HARMLESS: ReadonlySet<string> = new Set([
  'replicas',
  'nodeSelector',
  'tolerations',
  'affinity',
  'topologySpreadConstraints',
  'terminationGracePeriodSeconds',
  'resources',
  'metadata',
])

function withoutHarmless(json: Json): Json {
  if (Array.isArray(json)) return json.map(withoutHarmless)
  if (!isJsonObject(json)) return json
  const kept = Object.entries(json).filter(([field]) => !HARMLESS.has(field))
  return Object.fromEntries(kept.map(([field, one]) => [field, withoutHarmless(one)]))
}

function deployed(parameters: GwParameters | undefined): JsonObject | undefined {
  const { objects } = renderDeployment(input(parameters))
  const found = objects.find(({ kind }) => kind === 'Deployment')
  // An object without undefined fields.
  return found && (withoutHarmless(jsonCopy(found)) as JsonObject)
}

it('an overlay of a Gateway changes nothing that a pod may do, or nothing is deployed', () => {
  const expected = deployed(undefined)
  const outcomes = { deployed: 0, refused: 0 }
  check(
    property(overlay, (spec) => {
      const actual = deployed({
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GwParameters',
        metadata: { name: 'p', namespace: 'tenant' },
        spec: { deployment: { spec } },
      })
      outcomes[actual === undefined ? 'refused' : 'deployed'] += 1
      if (actual !== undefined) expect(actual).toEqual(expected)
    }),
    { numRuns: 1500 },
  )
  expect(outcomes.deployed).toBeGreaterThan(10)
  expect(outcomes.refused).toBeGreaterThan(50)
})
