// Status entries of this controller that translation no longer produces; those of other controllers stay.
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../translate/kube.ts'
import { forgottenStatus } from './forgotten-status.ts'

const OURS = { controllerName: 'gw.dev/controller', conditions: [] }
const FOREIGN = { controllerName: 'example.com/other', conditions: [] }

function withStatus(status: unknown): KubeObject {
  const object = { apiVersion: 'v1', kind: 'HTTPRoute', metadata: { name: 'cart', namespace: 'shop' }, status }
  return object
}

describe('forgottenStatus', () => {
  it.each<[string, unknown, unknown]>([
    ['our entry of a route goes', { parents: [FOREIGN, OURS] }, { parents: [] }],
    ['our entry of a policy goes', { ancestors: [OURS] }, { ancestors: [] }],
    ['entries of other controllers stay', { parents: [FOREIGN], ancestors: [FOREIGN] }, undefined],
    ['conditions without entries are ignored', { conditions: [{ type: 'Accepted' }] }, undefined],
    ['no status', undefined, undefined],
    ['a broken status', { parents: 'all' }, undefined],
  ])('%s', (_what, status, expected) => {
    expect(forgottenStatus(withStatus(status), OURS.controllerName)?.status).toEqual(expected)
  })

  it('names the object', () => {
    const found = forgottenStatus(withStatus({ parents: [OURS] }), OURS.controllerName)
    expect(found).toMatchObject({ kind: 'HTTPRoute', namespace: 'shop', name: 'cart' })
    expect(forgottenStatus(undefined, OURS.controllerName)).toBeUndefined()
  })
})
