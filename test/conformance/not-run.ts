// Security fields that this version does not run: the traffic they cover is refused, and the status names the field. An
// entry goes when its field is run.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'csrf.yaml'
const POLICY = `spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: csrf
  traffic:
    csrf:
      additionalOrigins:
        - https://shop.example.com
`

const SERVICE = '{name: csrf, namespace: default, port: 80}'

/** Field path below spec, and what stands there instead of the sample's policy. */
const FIELDS = {
  'backend.tunnel': `{backendRef: ${SERVICE}}`,
} as const

export const cases: readonly ConformanceCase[] = Object.entries(FIELDS).map(([field, value]) => ({
  shortName: field,
  description: 'refuses the traffic and says why',
  sample: SAMPLE,
  change: replacing(POLICY, policyOf(field.split('.'), value)),
  run: (gateway) => refuses(gateway, field),
}))

function policyOf(path: readonly string[], value: string): string {
  const kind = path[0] === 'frontend' ? 'Gateway' : 'HTTPRoute'
  const nested = path.reduceRight((inner, name) => `{${name}: ${inner}}`, value)
  return `spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: ${kind}, name: csrf}]
  ${nested.slice(1, -1)}
`
}

async function refuses(gateway: SampleGateway, field: string): Promise<void> {
  expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'denied by policy' })
  const [accepted] = gateway.conditions('GwPolicy', 'csrf')
  expect(accepted).toMatchObject({ type: 'Accepted', status: 'True', reason: 'PartiallyValid' })
  expect(accepted?.message).toContain(
    `${field} is not run by this version of the proxy; the traffic it covers is refused`,
  )
  expect(gateway.source.problems.map(({ path }) => path)).toContain(`spec.${field}`)
}
