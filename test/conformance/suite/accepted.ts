// Checks of every unchanged sample: no problems, every object accepted, attached and in the dump.
import { expect } from 'vitest'
import type { SampleGateway } from './gateway.ts'

const ROUTES = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute']
const KINDS_WITH_STATUS = new Set(['GatewayClass', 'Gateway', ...ROUTES, 'GwBackend', 'GwModel', 'GwPolicy'])

export async function expectAccepted(gateway: SampleGateway): Promise<void> {
  expect(gateway.source.problems).toEqual([])
  for (const { kind, metadata } of gateway.objects.filter((object) => KINDS_WITH_STATUS.has(object.kind))) {
    const conditions = gateway.conditions(kind, metadata.name)
    expect(conditions, `${kind} ${metadata.name}`).not.toEqual([])
    for (const { type, status, message } of conditions) {
      const expected = type === 'Conflicted' || type === 'OverlappingTLSConfig' ? 'False' : 'True'
      expect(status, `${type} of ${kind} ${metadata.name}: ${message}`).toBe(expected)
    }
  }
  const dumped = new Set((await gateway.policies()).map(({ name }) => name.name))
  for (const { kind, metadata } of gateway.objects) {
    if (kind !== 'GwPolicy') continue
    expect(gateway.conditions(kind, metadata.name)).toMatchObject([
      { type: 'Accepted', status: 'True', reason: 'Valid' },
      { type: 'Attached', status: 'True', reason: 'Attached' },
    ])
    expect([...dumped]).toContain(metadata.name)
  }
}
