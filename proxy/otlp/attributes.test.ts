import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import { anyValueOf, AttributeList } from './attributes.ts'
import { resourceAttributes } from './resource.ts'
import { pairsOf } from './resource-variables.ts'

function valueOf(value: unknown): unknown {
  return anyValueOf(value)?.value.value
}

describe('attributes', () => {
  it.each<[unknown, unknown]>([
    ['text', 'text'],
    ['half \ud800', 'half \ufffd'],
    [true, true],
    [1.5, 1.5],
    [7n, 7n],
    [2n ** 70n, '1180591620717411303424'],
    [new CelUint(7n), 7n],
    [new SecretString('s3cret'), '<redacted>'],
  ])('%s', (value, expected) => {
    expect(valueOf(value)).toEqual(expected)
  })

  it('have lists and maps', () => {
    expect(JSON.stringify(anyValueOf(new Map<string, unknown>([['a', ['x', true, 1.5]]])))).toContain('"key":"a"')
    expect(anyValueOf([1n])?.value).toMatchObject({ case: 'arrayValue' })
  })

  it('are bounded in length and number', () => {
    const list = new AttributeList(new Set(['removed']))
    list.text('long', 'x'.repeat(10_000))
    list.text('removed', 'x')
    list.added('removed', 'but added')
    for (let i = 0; i < 200; i++) list.number(`n${i}`, i)
    expect(list.attributes).toHaveLength(128)
    expect(list.dropped).toBe(74)
    expect(list.attributes[0]?.value?.value?.value).toHaveLength(4096)
    expect(list.attributes[1]?.key).toBe('removed')
  })
})

describe('the resource', () => {
  const input = { environment: {}, gateway: { namespace: 'ns', name: 'edge' }, version: '1', added: [] }
  const asObject = (parts: Partial<Parameters<typeof resourceAttributes>[0]>): Record<string, unknown> =>
    Object.fromEntries(resourceAttributes({ ...input, ...parts }).map(({ key, value }) => [key, value?.value?.value]))

  it('says what the proxy knows', () => {
    expect(asObject({})).toEqual({
      'service.name': 'edge',
      'service.namespace': 'ns',
      'service.version': '1',
      'service.instance.id': `${hostname()}-${process.pid}`,
      'host.name': hostname(),
    })
  })

  it('has the environment below and the policy above', () => {
    const environment = {
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=lowest,team=a%2Fb,broken,=x',
      OTEL_SERVICE_NAME: 'named',
      POD_NAME: 'pod-1',
      NAMESPACE: 'infra',
      NODE_NAME: 'node-1',
      INSTANCE_IP: '10.0.0.7',
    }
    const added = [
      { name: 'team', value: 'policy' },
      { name: 'failed', value: undefined },
    ]
    expect(asObject({ environment, added })).toEqual({
      'service.name': 'named',
      'service.namespace': 'infra',
      'service.version': '1',
      'service.instance.id': 'pod-1',
      'k8s.pod.name': 'pod-1',
      'k8s.namespace.name': 'infra',
      'k8s.node.name': 'node-1',
      'k8s.pod.ip': '10.0.0.7',
      'host.name': hostname(),
      team: 'policy',
    })
    expect(asObject({ environment: { ...environment, GW_GATEWAY: 'edge-2' } })['service.name']).toBe('edge-2')
  })

  it('reads pairs as they are encoded', () => {
    expect(pairsOf(' a = 1 ,b=x%3Dy,c=%zz,')).toEqual([
      ['a', '1'],
      ['b', 'x=y'],
      ['c', '%zz'],
    ])
  })
})
