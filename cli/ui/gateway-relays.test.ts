import { expect, it } from 'vitest'
import { GatewayRelays } from './gateway-relays.ts'

function relays() {
  const [started, closed, pods]: [string[], string[], Map<string, string>] = [[], [], new Map()]
  const all = new GatewayRelays({
    find: async (namespace, name) => {
      const label = pods.get(name) ?? `${name}-1.${namespace}`
      if (label === '') throw new Error('no running pod')
      return { label, open: () => Promise.reject(new Error('not used')) }
    },
    start: async ({ label }) => {
      started.push(label)
      return { url: `http://127.0.0.1/${label}-${started.length}`, close: () => closed.push(label) }
    },
  })
  return { all, started, closed, pods }
}

it('starts one relay for a Gateway, and another one when its pod is another', async () => {
  const { all, started, closed, pods } = relays()
  const first = await all.urlFor('/gateways/shop/web')
  expect(await all.urlFor('/gateways/shop/web')).toBe(first)
  pods.set('web', 'web-2.shop')
  expect(await all.urlFor('/gateways/shop/web')).not.toBe(first)
  expect([started, closed]).toEqual([['web-1.shop', 'web-2.shop'], ['web-1.shop']])
})

it('reports a Gateway without a proxy', async () => {
  const { all, pods } = relays()
  pods.set('web', '')
  await expect(all.urlFor('/gateways/shop/web')).rejects.toThrow('no running pod')
})

it('takes only paths of Gateways', () => {
  const { all } = relays()
  for (const path of ['/ui/', '/gateways/shop', '/gateways/shop/web/ui', '/gateways/Shop/web', '/gateways/shop/-f=x y'])
    expect(all.urlFor(path)).toBeUndefined()
})

it('keeps the 32 relays that were used last', async () => {
  const { all, started, closed } = relays()
  for (let i = 0; i < 32; i++) await all.urlFor(`/gateways/shop/web-${i}`)
  await all.urlFor('/gateways/shop/web-0')
  await all.urlFor('/gateways/shop/more')
  expect([started.length, closed]).toEqual([33, ['web-1-1.shop']])
  all.close()
  expect(closed).toHaveLength(33)
})
