import { expect, it } from 'vitest'
import { connectionsText, type EndpointStates, rowKey, statesByRow } from './endpoint-states.ts'

const history = { health: [], latency: [], requests: [], evicted: [] }

it('finds the state of a row by the names that tables show', () => {
  const states: EndpointStates = {
    intervalSeconds: 60,
    end: '',
    workers: 1,
    endpoints: [
      {
        type: 'Service',
        name: 'cart',
        namespace: 'shop',
        endpoint: 'cluster//Pod/shop/cart-1',
        history,
        connections: { open: 3, idle: 2, max: 8192 },
      },
      {
        type: 'Backend',
        name: 'gateway/default/default/pets/backend0',
        namespace: 'default',
        section: 'files',
        endpoint: '127.0.0.1:9',
        history,
        connections: { open: 0, idle: 0, max: null },
      },
    ],
  }
  const known = statesByRow(states)
  const texts = [
    { type: 'Service', namespace: 'shop', name: 'cart', endpoint: 'cart-1' },
    { type: 'Backend', namespace: 'default', name: 'pets/backend0/files', endpoint: '127.0.0.1:9' },
    { type: 'Backend', namespace: 'shop', name: 'cart', endpoint: 'cart-1' },
  ].map((row) => connectionsText(known.get(rowKey(row))))
  expect(texts).toEqual(['3 of 8192, 2 idle', '0, 0 idle', ''])
  expect(statesByRow(undefined).size).toBe(0)
})
