import { expect, it } from 'vitest'
import { addGateway, queueWorld, rendered } from './queue-world.testing.ts'

it('reports which Gateways were rendered again, by identity, and which are gone', () => {
  const { gateways } = queueWorld()
  const [one, other] = [rendered(80), rendered(81)]
  expect(gateways.take(new Map([['shop/a', one]]))).toEqual([{ key: 'shop/a', before: undefined, after: one }])
  const second = gateways.take(
    new Map([
      ['shop/a', one],
      ['shop/b', other],
    ]),
  )
  expect(second).toEqual([{ key: 'shop/b', before: undefined, after: other }])
  expect(gateways.take(new Map([['shop/b', other]]))).toEqual([{ key: 'shop/a', before: one, after: undefined }])
})

it('has no Gateway that is being deleted, alone or with its namespace', () => {
  const it = queueWorld()
  const gateway = addGateway(it, 'web')
  expect(it.gateways.get('shop/web')?.gateway).toBe(it.gateways.gateway('shop/web'))
  expect(it.gateways.get('shop/web')).toMatchObject({ gateway })
  const leaving = { name: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' }
  it.cache.put('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: leaving })
  expect([it.gateways.get('shop/web'), it.gateways.all(), it.gateways.in('shop')]).toEqual([
    undefined,
    [],
    ['shop/web'],
  ])
})
