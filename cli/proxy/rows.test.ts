import { expect, it } from 'vitest'
import type { PolicyTarget } from '#api/ir/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { backendText, routeRows, targetText } from './rows.ts'
import { translatedDump } from './translated-dump.ts'

const WEB = { namespace: 'shop', name: 'web' }
const CART: PolicyTarget = { route: { kind: 'HTTPRoute', namespace: 'shop', name: 'cart' } }

it.each<[PolicyTarget, string]>([
  [{ gateway: WEB }, 'Gateway shop/web'],
  [{ gateway: { ...WEB, listener: 'https' } }, 'Gateway shop/web, listener https'],
  [{ gateway: { ...WEB, port: 443 } }, 'Gateway shop/web, port 443'],
  [{ listenerSet: { ...WEB, section: 'a' } }, 'ListenerSet shop/web, section a'],
  [CART, 'HTTPRoute shop/cart'],
  [{ route: { kind: 'GRPCRoute', ...WEB, ruleName: 'pay' } }, 'GRPCRoute shop/web, rule pay'],
  [{ service: { hostname: 'cart.shop.svc', namespace: 'shop', port: 80 } }, 'Service cart.shop.svc, port 80'],
  [{ backend: { ...WEB, section: 'one' } }, 'backend shop/web, section one'],
  [{ several: [CART, CART] }, 'HTTPRoute shop/cart; HTTPRoute shop/cart'],
  [
    { several: [CART, CART, CART, { gateway: WEB }, CART] },
    'HTTPRoute shop/cart; HTTPRoute shop/cart; HTTPRoute shop/cart; 2 more',
  ],
])('names the target %j of a dump', (target, text) => {
  const name = { kind: 'GwPolicy', ...WEB }
  const dump = translatedDump({ ...emptyConfig(), policies: [{ key: 'a', name, target, policy: {} }] })
  expect(targetText(dump.policies[0]?.target)).toBe(text)
})

it('has routes that get requests from other routes, with the group that both name', () => {
  const [parent, child] = [
    { key: 'a', listenerKey: 'http', backends: [{ weight: 1, ref: { routeGroup: 'shop/site/team' } }] },
    { key: 'b', routeGroupKey: 'shop/site/team', backends: [] },
  ].map((route) => ({ hostnames: [], matches: [], name: { kind: 'HTTPRoute' as const, ...WEB }, ...route }))
  if (parent === undefined || child === undefined) throw new Error('no routes')
  const name = { gatewayNamespace: 'shop', gatewayName: 'web', listenerName: 'http' }
  const dump = translatedDump({
    ...emptyConfig(),
    binds: [{ key: '80', port: 80 }],
    listeners: [{ key: 'http', bindKey: '80', name, protocol: 'HTTP' }],
    routes: [parent, child],
  })
  const [served, delegated, ...others] = routeRows(dump)
  expect([served?.address, served?.listener]).toEqual([':80', 'http'])
  expect((served?.backends ?? []).map(backendText)).toEqual(['delegated (shop/site/team)'])
  expect([delegated?.key, delegated?.address, delegated?.listener]).toEqual(['b', '', 'delegated (shop/site/team)'])
  expect(others).toEqual([])
})
