import { expect, it } from 'vitest'
import type { PolicyTarget } from '#api/ir/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { targetText } from './rows.ts'
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
