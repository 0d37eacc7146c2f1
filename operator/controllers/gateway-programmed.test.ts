import { describe, expect, it } from 'vitest'
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import { condition } from '../status/condition.ts'
import type { GatewayBody } from '../status/object-status.ts'
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

function conditions(change: Partial<GatewayFacts>, addresses: readonly string[] = []): string[] {
  const facts: GatewayFacts = {
    uid: 'u',
    generation: 3,
    wantedAddress: undefined,
    deployProblems: [],
    failure: undefined,
    acknowledgements: loaded(),
    readyPods: undefined,
    isReplicaExpected: true,
    isAvailable: true,
    current: [],
    ...change,
  }
  const given = addresses.map((value) => ({ type: 'IPAddress' as const, value }))
  return withProgrammed({ ...body, addresses: given }, facts).conditions.map(
    ({ type, status, reason, observedGeneration }) => `${type}=${status} ${reason} ${observedGeneration}`,
  )
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

  it('expects no pod to be ready where none is expected', () => {
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
      { deployProblems: [{ reason: 'InvalidParameters', message: 'm' }] },
      'False InvalidParameters 3',
      'False Invalid 3',
    ],
    [
      'two addresses',
      { deployProblems: [{ reason: 'UnsupportedAddress', message: 'm' }] },
      'True Accepted 3',
      'False AddressNotUsable 3',
    ],
    ['no ports', { deployProblems: [{ reason: 'NoValidPorts', message: 'm' }] }, 'True Accepted 3', 'False Invalid 3'],
  ])('%s', (_what, change, accepted, programmed) => {
    expect(conditions(change)).toEqual([`Accepted=${accepted}`, `Programmed=${programmed}`])
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
