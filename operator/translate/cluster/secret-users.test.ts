import { expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { usersOfSecrets } from './secret-users.ts'

const ref = (secret: string): { secret: string } => ({ secret })
const inGateway = { gatewayName: 'web', gatewayNamespace: 'shop' }
const pair = (name: string): object => ({ certificate: ref(`${name}/tls.crt`), privateKey: ref(`${name}/tls.key`) })
const key = (secret: string): object => ({ auth: { key: ref(secret) } })

// Fields that are not read here are left out.
const config = {
  ...emptyConfig(),
  listeners: [
    { key: 'a', name: { ...inGateway, listenerName: 'a' }, tls: pair('shop/gone') },
    {
      key: 'b',
      name: { ...inGateway, listenerName: 'b' },
      tls: { ...pair('shop/there'), moreCertificates: [pair('shop/more')] },
    },
    {
      key: 'c',
      name: { ...inGateway, listenerName: 'c', listenerSet: { namespace: 'team', name: 'set' } },
      tls: pair('team/gone'),
    },
    { key: 'd', name: { ...inGateway, listenerName: 'd' } },
  ],
  policies: [
    {
      key: 'p',
      name: { kind: 'GwPolicy', namespace: 'shop', name: 'p' },
      policy: { backend: key('shop/gone/Authorization') },
    },
    {
      key: 'q',
      name: { kind: 'GwPolicy', namespace: 'shop', name: 'p' },
      policy: { backend: key('shop/more/Authorization') },
    },
    {
      key: 'r',
      name: { kind: 'GwPolicy', namespace: 'shop', name: 'r' },
      policy: { backend: key('shop/there/Authorization') },
    },
  ],
  backends: [
    { key: 'shop/b', name: { namespace: 'shop', name: 'b' }, inlinePolicies: key('shop/gone/Authorization') },
    {
      key: 'model:shop/m',
      name: { namespace: 'shop', name: 'model:m' },
      inlinePolicies: key('shop/gone/Authorization'),
    },
  ],
} as unknown as RenderedConfig

it('finds the objects and listeners that use the Secrets, once each', () => {
  expect(usersOfSecrets(config, ['shop/gone', 'shop/more', 'team/gone', 'shop/unused'])).toEqual([
    { kind: 'Gateway', namespace: 'shop', name: 'web', listener: 'a', secrets: ['shop/gone'] },
    { kind: 'Gateway', namespace: 'shop', name: 'web', listener: 'b', secrets: ['shop/more'] },
    { kind: 'ListenerSet', namespace: 'team', name: 'set', listener: 'c', secrets: ['team/gone'] },
    { kind: 'GwPolicy', namespace: 'shop', name: 'p', secrets: ['shop/gone', 'shop/more'] },
    { kind: 'GwBackend', namespace: 'shop', name: 'b', secrets: ['shop/gone'] },
    { kind: 'GwModel', namespace: 'shop', name: 'm', secrets: ['shop/gone'] },
  ])
})
