import { expect, it } from 'vitest'
import { targetText } from './target-text.ts'

const FLAGS = { adminAddr: 'localhost:15000' }

it.each([
  [{ gateway: 'gateway/web.v1.shop', label: 'web-1.shop' }, FLAGS, 'gateway/web.v1 -n shop'],
  [{ gateway: undefined, label: 'web-1.shop' }, FLAGS, 'pod/web-1 -n shop'],
  [{ gateway: undefined, label: '[::1]:15000' }, { ...FLAGS, local: true }, '--local --admin-addr localhost:15000'],
  [
    { gateway: 'gateway/web.shop', label: 'web-1.shop' },
    { ...FLAGS, kubeconfig: '/k', context: 'kind', proxyAdminPort: 9 },
    'gateway/web -n shop --kubeconfig /k --context kind --proxy-admin-port 9',
  ],
])('names the proxy of %j', (transport, flags, expected) => {
  expect(targetText(transport, flags)).toBe(expected)
})
