import { describe, expect, it } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import { isOwnedBy } from './ownership.ts'

const gateway: Gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
}
const OURS = { 'app.kubernetes.io/managed-by': 'gw', 'gateway.networking.k8s.io/gateway-name': 'web' }

function owner(uid: string, controller = true): OwnerReference {
  return { apiVersion: gateway.apiVersion, kind: 'Gateway', name: 'web', uid, controller }
}

describe('isOwnedBy', () => {
  it.each<[string, Record<string, string>, OwnerReference[] | undefined, boolean]>([
    ['controlled by the Gateway', {}, [owner('u')], true],
    ['a further owner beside it', {}, [owner('x', false), owner('u')], true],
    ['of a user', {}, undefined, false],
    ['owned by the Gateway, but not controlled', {}, [owner('u', false)], false],
    ['controlled by a Gateway of that name that is gone', OURS, [owner('x')], false],
    ['with our labels, the reference removed', OURS, undefined, true],
    ['with our labels, an empty list', OURS, [], true],
    ['with the labels of another Gateway', { ...OURS, 'gateway.networking.k8s.io/gateway-name': 'we' }, [], false],
    ['managed by another tool', { ...OURS, 'app.kubernetes.io/managed-by': 'Helm' }, [], false],
    ['with one of the labels', { 'app.kubernetes.io/managed-by': 'gw' }, [], false],
  ])('%s', (_, labels, ownerReferences, expected) => {
    const metadata = { name: 'web', labels, ...(ownerReferences !== undefined && { ownerReferences }) }
    expect(isOwnedBy({ apiVersion: 'v1', kind: 'Service', metadata }, gateway)).toBe(expected)
  })

  const KEY = { 'gateway.networking.k8s.io/gateway-name': 'web', 'gateway.networking.k8s.io/gateway-class-name': 'gw' }
  it.each<[string, string, Record<string, string>, OwnerReference[], boolean]>([
    ['as this version creates it', 'Secret', { ...OURS, ...KEY }, [], true],
    ['as former versions created it', 'Secret', KEY, [], true],
    ['of another Gateway', 'Secret', { ...KEY, 'gateway.networking.k8s.io/gateway-name': 'we' }, [], false],
    ['that a user named like it', 'Secret', {}, [], false],
    ['that a user labelled like pods', 'Secret', { 'gateway.networking.k8s.io/gateway-name': 'web' }, [], false],
    ['managed by another tool', 'Secret', { ...KEY, 'app.kubernetes.io/managed-by': 'Helm' }, [], false],
    ['controlled by another object', 'Secret', { ...OURS, ...KEY }, [owner('x')], false],
    ['of another kind', 'ConfigMap', KEY, [], false],
  ])('a session key %s', (_, kind, labels, ownerReferences, expected) => {
    const metadata = { name: 'web-session-key', labels, ownerReferences }
    expect(isOwnedBy({ apiVersion: 'v1', kind, metadata }, gateway)).toBe(expected)
  })
})
