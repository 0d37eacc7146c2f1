// Whatever users write into overlays and free fields: a result or problems, never an exception, and the same each time.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import { runs } from '#test/run/runs.ts'
import type { DeployInput } from './input.ts'
import { renderDeployment } from './render.ts'
import { directedCase } from './strategicmerge/patch-cases.testing.ts'
import { NEW_KEY, TEST_SETTINGS } from './input.testing.ts'

const gateway: Gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'apps', uid: 'u1' },
  spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
}
const gatewayClass: GatewayClass = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'gw' },
  spec: { controllerName: 'gw.dev/controller' },
}

const json = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })
const fromPatch = directedCase.map(({ patch }) => {
  const { spec } = patch
  return typeof spec === 'object' && spec !== null && !Array.isArray(spec) ? spec : {}
})
const overlay = fc.record({ spec: fc.oneof(json, fromPatch) })
const spec = fc.record(
  { deployment: overlay, service: overlay, serviceAccount: overlay, podDisruptionBudget: overlay, rawConfig: json },
  { requiredKeys: [], noNullPrototype: true },
)

function inputOf(ofClass: GwParametersSpec, ofGateway: GwParametersSpec, ports: readonly number[]): DeployInput {
  const parameters = (name: string, each: GwParametersSpec): GwParameters => ({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwParameters',
    metadata: { name, namespace: 'apps' },
    spec: each,
  })
  return {
    gateway,
    gatewayClass,
    classParameters: parameters('class', ofClass),
    gatewayParameters: parameters('gateway', ofGateway),
    ports,
    meshListeners: [],
    settings: TEST_SETTINGS,
    sessionKey: { state: 'absent', newKey: NEW_KEY },
  }
}

it('never throws, changes nothing it was given, and gives the same each time', () => {
  const property = fc.property(spec, spec, (low, high) => {
    const input = inputOf(low, high, [80])
    const before = structuredClone(input)
    const result = renderDeployment(input)
    expect(result.objects.length > 0).toBe(!result.problems.some(({ severity }) => severity === 'error'))
    expect(input).toEqual(before)
    expect(renderDeployment(input)).toEqual(result)
  })
  fc.assert(property, { numRuns: runs(60) })
})

it('does not depend on the order of ports', () => {
  const ports = fc.array(fc.integer({ min: -1, max: 70_000 }), { maxLength: 10 })
  const property = fc.property(ports, (list) => {
    const rendered = renderDeployment(inputOf({}, {}, list))
    expect(renderDeployment(inputOf({}, {}, [...list, ...list].reverse()))).toEqual(rendered)
  })
  fc.assert(property, { numRuns: runs(30) })
})
