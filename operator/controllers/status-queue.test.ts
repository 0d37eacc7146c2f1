import { Effect } from 'effect'
import { expect, it } from 'vitest'
import type { ObjectStatus } from '../translate/object-status.ts'
import { addGateway, NotedKeys, queueWorld } from './queue-world.testing.ts'
import { StatusQueue } from './status-queue.ts'

const CLASS = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata: { name: 'gw' } }

function made() {
  const all = queueWorld()
  const keys = new NotedKeys()
  const troublesOf = () => ({ deployProblems: [], failure: undefined })
  const leftOutUsesOf = () => []
  return { ...all, keys, queue: new StatusQueue({ ...all, keys, troublesOf, leftOutUsesOf, turn: () => Effect.void }) }
}

function classStatus(message: string): ObjectStatus {
  const condition = { type: 'Accepted', status: 'True', reason: 'Accepted', message, observedGeneration: 1 } as const
  return {
    apiVersion: CLASS.apiVersion,
    kind: 'GatewayClass',
    namespace: '',
    name: 'gw',
    status: { conditions: [condition] },
  }
}

it('takes statuses that the cluster does not have yet', () => {
  const { queue, keys, cache } = made()
  const status = classStatus('fine')
  queue.translated([status])
  expect(keys.taken()).toEqual([])
  cache.put('GatewayClass', CLASS)
  queue.objectChanged('GatewayClass', '/gw')
  queue.translated([status])
  expect(keys.taken()).toEqual(['GatewayClass /gw'])
  const conditions = [{ ...CONDITION, message: 'fine' }]
  cache.put('GatewayClass', { ...CLASS, status: { conditions } } as typeof CLASS)
  queue.statusChanged('GatewayClass', '/gw')
  expect(keys.taken()).toEqual([])
  queue.translated([classStatus('not fine')])
  expect(keys.taken()).toEqual(['GatewayClass /gw'])
})

const CONDITION = {
  type: 'Accepted',
  status: 'True',
  reason: 'Accepted',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
}

it('takes objects that translation no longer covers, and classes when their facts change', () => {
  const { queue, keys, cache } = made()
  cache.put('GatewayClass', CLASS)
  queue.translated([classStatus('fine')])
  keys.taken()
  queue.setClassFacts({ unservedFeatures: new Set() })
  expect(keys.taken()).toEqual(['GatewayClass /gw'])
  queue.translated([])
  expect(keys.taken()).toEqual(['GatewayClass /gw'])
})

it('takes a Gateway that translation does not cover: its status may need a correction', () => {
  const all = made()
  addGateway(all, 'web')
  all.queue.objectChanged('Gateway', 'shop/web')
  expect(all.keys.taken()).toEqual(['Gateway shop/web'])
  all.queue.factsChanged('shop/web')
  expect([all.keys.taken(), all.queue.desired('Gateway', 'shop/web')]).toEqual([[], undefined])
})
