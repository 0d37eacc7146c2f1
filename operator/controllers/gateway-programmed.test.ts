import { describe, expect, it } from 'vitest'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import type { DeployProblem } from '#deployer/input.ts'
import { condition } from '../status/condition.ts'
import type { Condition, GatewayBody } from '../translate/object-status.ts'
import { type GatewayFacts, withProgrammed } from './gateway-programmed.ts'

const body: GatewayBody = {
  addresses: [],
  attachedListenerSets: 0,
  listeners: [],
  conditions: [
    condition({ type: 'Accepted', isTrue: true, reason: 'Accepted', message: 'ok', generation: 3 }),
    condition({ type: 'Programmed', isTrue: true, reason: 'Programmed', message: 'ok', generation: 3 }),
  ],
}

function loaded(change: Partial<Acknowledgement> = {}): Map<string, Acknowledgement> {
  return new Map([['pod', { generation: 7, gatewayGeneration: 3, gatewayUid: 'u', revision: 'r', ...change }]])
}

function problem(
  reason: DeployProblem['reason'],
  severity: 'error' | 'warning' = 'error',
  kind = 'GwParameters',
): DeployProblem {
  const object = { apiVersion: 'gw.dev/v1alpha1', kind, namespace: 'shop', name: 'big' }
  return { object, path: 'spec.a', reason, message: `${reason} is wrong`, severity }
}

function conditions(change: Partial<GatewayFacts>, addresses: readonly string[] = []): string[] {
  return adjusted(change, addresses).map(
    ({ type, status, reason, observedGeneration }) => `${type}=${status} ${reason} ${observedGeneration}`,
  )
}

const lost = [
  condition({ type: 'Programmed', isTrue: false, reason: 'AddressNotAssigned', message: '', generation: 3 }),
]

function factsOf(change: Partial<GatewayFacts>, addresses: readonly string[] = []): GatewayFacts {
  return {
    uid: 'u',
    generation: 3,
    wantedAddress: undefined,
    addresses: addresses.map((value) => ({ type: 'IPAddress' as const, value })),
    hasService: true,
    hadAddress: false,
    deployProblems: [],
    failure: undefined,
    acknowledgements: loaded(),
    readyPods: undefined,
    isReplicaExpected: true,
    isAvailable: true,
    trouble: undefined,
    isRollingOut: false,
    current: [],
    ...change,
  }
}

function adjusted(change: Partial<GatewayFacts>, addresses: readonly string[] = []): readonly Condition[] {
  return withProgrammed(body, factsOf(change, addresses)).conditions
}

describe('withProgrammed', () => {
  const none = new Map<string, Acknowledgement>()

  it.each([
    ['the pod that has loaded it is ready', ['pod'], 'Programmed=True Programmed 3'],
    ['it is not ready yet', [], 'Programmed=False Pending 3'],
    ['only another one is ready', ['other'], 'Programmed=False Pending 3'],
  ])('waits for a pod that takes connections: %s', (_, ready, expected) => {
    expect(conditions({ readyPods: new Set(ready) })[1]).toBe(expected)
  })

  it('waits for no ready pod if no pod is expected', () => {
    expect(conditions({ acknowledgements: none, readyPods: new Set(), isReplicaExpected: false })[1]).toBe(
      'Programmed=True Programmed 3',
    )
  })
  const before = [condition({ type: 'Programmed', isTrue: true, reason: 'Programmed', message: '', generation: 2 })]
  const rejected = { generation: 8, message: 'no' }

  it.each<[string, Partial<GatewayFacts>, string, string]>([
    ['a proxy runs it', {}, 'True Accepted 3', 'True Programmed 3'],
    ['nodes do not know the way yet', { isAvailable: false }, 'True Accepted 3', 'False Pending 3'],
    ['nodes knew the way', { isAvailable: false, current: before }, 'True Accepted 3', 'True Programmed 3'],
    ['no proxy runs it', { acknowledgements: none }, 'True Accepted 3', 'False Pending 3'],
    ['none is expected', { acknowledgements: none, isReplicaExpected: false }, 'True Accepted 3', 'True Programmed 3'],
    [
      'a Gateway of that name that is gone',
      { acknowledgements: loaded({ gatewayUid: 'x' }) },
      'True Accepted 3',
      'False Pending 3',
    ],
    [
      'an older generation',
      { acknowledgements: loaded({ gatewayGeneration: 2 }) },
      'True Accepted 3',
      'False Pending 3',
    ],
    [
      'older, and programmed before',
      { acknowledgements: loaded({ gatewayGeneration: 2 }), current: before },
      'True Accepted 3',
      'True Programmed 2',
    ],
    [
      'refused',
      { acknowledgements: loaded({ gatewayGeneration: 2, rejected }), current: before },
      'True Accepted 3',
      'False Invalid 3',
    ],
    [
      'refused by one, run by another',
      {
        acknowledgements: new Map([...loaded(), ['b', { ...[...loaded().values()][0], rejected } as Acknowledgement]]),
      },
      'True Accepted 3',
      'True Programmed 3',
    ],
    ['objects could not be written', { failure: 'forbidden' }, 'True Accepted 3', 'False DeploymentFailed 3'],
    [
      'parameters are wrong',
      { deployProblems: [problem('InvalidParameters')] },
      'False InvalidParameters 3',
      'False Invalid 3',
    ],
    [
      'two addresses',
      { deployProblems: [problem('UnsupportedAddress')] },
      'True Accepted 3',
      'False AddressNotUsable 3',
    ],
    ['no ports', { deployProblems: [problem('NoValidPorts')] }, 'True Accepted 3', 'False Invalid 3'],
    [
      'a warning',
      { deployProblems: [problem('InvalidParameters', 'warning')] },
      'True Accepted 3',
      'True Programmed 3',
    ],
  ])('%s', (_what, change, accepted, programmed) => {
    expect(conditions(change)).toEqual([`Accepted=${accepted}`, `Programmed=${programmed}`])
  })

  it('reports proxies without a certificate of their mesh, and stays accepted and programmed', () => {
    const [pod] = loaded().values()
    const acknowledgements = new Map([
      ['b', { ...pod, meshTrouble: 'it has no certificate; no such host' } as Acknowledgement],
      ['a', { ...pod, meshTrouble: 'it has no certificate;\nrefused' } as Acknowledgement],
      ...loaded(),
    ])
    const [accepted, programmed, mesh] = adjusted({ acknowledgements })
    expect([accepted?.status, programmed?.status]).toEqual(['True', 'True'])
    expect(mesh).toEqual({
      type: 'gw.dev/MeshUnavailable',
      status: 'True',
      reason: 'MeshNotServed',
      message: '2 of 3 proxies have no current certificate of the mesh. a: it has no certificate;\\nrefused',
      observedGeneration: 3,
    })
    expect(adjusted({})).toHaveLength(2)
  })

  it('names Secrets that are not delivered, and stays accepted and programmed', () => {
    const [accepted, programmed, secrets] = adjusted({ leftOut: 'no room for shop/users' })
    expect([accepted?.status, programmed?.status]).toEqual(['True', 'True'])
    expect(secrets).toEqual({
      type: 'gw.dev/SecretsUnavailable',
      status: 'True',
      reason: 'SecretsNotDelivered',
      message: 'no room for shop/users',
      observedGeneration: 3,
    })
  })

  it('reports why no proxy runs until the first one has run', () => {
    const trouble = 'pod web-1 cannot be scheduled: no nodes'
    const message = (change: Partial<GatewayFacts>): string | undefined => adjusted({ trouble, ...change })[1]?.message
    expect(message({ acknowledgements: none })).toBe(`no proxy has loaded the configuration yet: ${trouble}`)
    expect(message({ readyPods: new Set() })).toBe(`no proxy is ready for traffic yet: ${trouble}`)
    expect(message({})).toBe(`ok\nSome proxies are not running: ${trouble}`)
  })

  it('reports a rollout that is stuck while the previous version serves, until it completes', () => {
    const trouble = 'pod web-2 cannot pull the image gw:x of its container gw'
    const stuck = `ok\nThe roll-out is stuck, the former version serves traffic: ${trouble}`
    const serving = { readyPods: new Set(['pod']), isRollingOut: true }
    const [, one] = adjusted({ ...serving, trouble })
    expect(one).toMatchObject({ type: 'Programmed', status: 'True', message: stuck })
    // Of a newer generation that no proxy has, with what was said before.
    const older = { acknowledgements: loaded({ gatewayGeneration: 2 }), current: one === undefined ? [] : [one] }
    expect(adjusted({ ...serving, ...older, trouble })[1]).toMatchObject({ status: 'True', message: stuck })
    expect(adjusted({ ...serving, ...older })[1]).toMatchObject({ status: 'True', message: 'ok' })
    expect(adjusted({ ...older, trouble, readyPods: new Set() })[1]?.message).toBe(
      `ok\nNo proxy is ready for traffic: ${trouble}`,
    )
    expect(adjusted({ ...serving, trouble, isReplicaExpected: false })[1]?.message).toBe('ok')
  })

  it.each<[string, DeployProblem[], string, string]>([
    [
      'errors',
      [problem('InvalidParameters'), problem('InvalidParameters', 'warning')],
      'GwParameters shop/big: spec.a: InvalidParameters',
      '1',
    ],
    [
      'of the Gateway itself',
      [problem('InvalidParameters', 'error', 'Gateway')],
      'spec.a: InvalidParameters is wrong',
      '1',
    ],
    [
      'warnings',
      [problem('MeshNotEnabled', 'warning'), problem('InvalidSessionKey', 'warning')],
      'ok\nGwParameters shop/big: spec.a: MeshNotEnabled is wrong\nGw',
      '3',
    ],
  ])('names object and field in the message: %s', (_what, deployProblems, message, lines) => {
    const [accepted] = adjusted({ deployProblems })
    expect(accepted?.message.startsWith(message)).toBe(true)
    expect(accepted?.message.split('\n')).toHaveLength(Number(lines))
  })

  it.each<[string, Partial<GatewayFacts>, string[], string]>([
    ['never had an address', {}, [], 'True Programmed'],
    ['does not exist yet', { hasService: false }, [], 'False Pending'],
    ['was deleted', { hasService: false, hadAddress: true }, [], 'False AddressNotAssigned'],
    ['waits for another address', { hadAddress: true }, [], 'False AddressNotAssigned'],
    ['still waits for it', { current: lost }, [], 'False AddressNotAssigned'],
    ['has it', { current: lost }, ['192.0.2.9'], 'True Programmed'],
    ['is scaled to zero and deleted', { hadAddress: true, isReplicaExpected: false }, [], 'False AddressNotAssigned'],
  ])('the Service %s', (_what, change, given, programmed) => {
    expect(conditions(change, given)[1]).toBe(`Programmed=${programmed} 3`)
  })

  it('reports the addresses that decide about Programmed', () => {
    const stale = { ...body, addresses: [{ type: 'IPAddress' as const, value: '192.0.2.1' }] }
    expect(withProgrammed(stale, factsOf({ hasService: false, hadAddress: true })).addresses).toEqual([])
  })

  it.each<[string, string, string[], string]>([
    ['is there', '192.0.2.1', ['192.0.2.1'], 'True Programmed'],
    ['is one of several', '192.0.2.1', ['192.0.2.9', '192.0.2.1'], 'True Programmed'],
    ['is there in other letters', '2001:DB8:0::1', ['2001:db8::1'], 'True Programmed'],
    ['was not given', '192.0.2.1', ['192.0.2.9'], 'False AddressNotUsable'],
    ['is still missing', '192.0.2.1', [], 'False AddressNotUsable'],
  ])('the wanted address %s', (_what, wantedAddress, given, programmed) => {
    expect(conditions({ wantedAddress }, given)).toEqual(['Accepted=True Accepted 3', `Programmed=${programmed} 3`])
  })
})
