// What a person reads when an object of a deployment is not taken.
import { describe, expect, it } from 'vitest'
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import { KubeConflict, type KubeError, KubeRefused, KubeUnreachable } from '../kube/errors.ts'
import { refusalText } from './deploy-refusal.ts'

function refused(status: number, message: string): KubeError {
  return new KubeRefused({ method: 'PATCH', path: '/apis', status, reason: '', message, retryAfterMs: undefined })
}

function parameters(name: string, spec: GwParametersSpec): GwParameters {
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata: { name, namespace: 'shop' }, spec }
}

const QUOTA = 'deployments.apps "web" is forbidden: exceeded quota: few'
const RIGHT = 'deployments.apps "web" is forbidden: User "gw" cannot patch resource "deployments"'
const ENDING = 'deployments.apps "web" is forbidden: unable to create, because it is being terminated'

describe('refusalText', () => {
  it.each<[string, KubeError, string, string]>([
    [
      'the field and the parameters that it comes from',
      refused(422, 'spec.replicas: Invalid'),
      'Deployment',
      'Deployment web was refused: spec.replicas: Invalid; see spec.deployment, spec.env of GwParameters shop/class and spec.resources of GwParameters shop/own',
    ],
    [
      'a wrong type, which the API server takes for a fault of its own',
      refused(500, 'failed to create typed patch object: .spec.type: expected string'),
      'Service',
      'Service web was refused: failed to create typed patch object: .spec.type: expected string; see spec.service of GwParameters shop/own',
    ],
    ['an object without typed fields and overlay', refused(422, 'no'), 'Role', 'Role web was refused: no'],
    [
      'an object that must be recreated',
      refused(422, 'spec.selector: field is immutable'),
      'Deployment',
      'Deployment web was refused: spec.selector: field is immutable; delete Deployment web; the controller creates it again',
    ],
    [
      'what keeps its first value',
      refused(422, 'Service "web" is invalid: spec.loadBalancerClass: Invalid value: "x": may not change once set'),
      'Service',
      'Service web was refused: Service "web" is invalid: spec.loadBalancerClass: Invalid value: "x": may not change once set; delete Service web; the controller creates it again',
    ],
    [
      'a name that a Gateway may have and a Service may not',
      refused(422, 'Service "web" is invalid: metadata.name: Invalid value: "web": a DNS-1035 label must'),
      'Service',
      'Service web was refused: Service "web" is invalid: metadata.name: Invalid value: "web": a DNS-1035 label must; it has the name of the Gateway: choose a Gateway name that starts with a letter and has no dots',
    ],
    [
      'a quota',
      refused(403, QUOTA),
      'Deployment',
      `Deployment web was refused: ${QUOTA}; raise the quota, or request less in GwParameters`,
    ],
    [
      'a right',
      refused(403, RIGHT),
      'Deployment',
      `Deployment web was refused: ${RIGHT}; if the controller lacks a right, grant it as config/rbac does`,
    ],
    ['a namespace that goes', refused(403, ENDING), 'Deployment', `Deployment web was refused: ${ENDING}`],
    [
      'another writer that was faster',
      new KubeConflict({ path: '/apis', reason: 'Conflict', message: 'uid mismatch' }),
      'Service',
      'Service web was not written: uid mismatch',
    ],
    ['a server that has no time', refused(429, 'slow down'), 'Service', 'PATCH /apis: 429 slow down'],
    [
      'a server that is away',
      new KubeUnreachable({ method: 'PATCH', path: '/apis', cause: new Error('refused') }),
      'Service',
      'PATCH /apis: refused',
    ],
  ])('names %s', (_, error, kind, expected) => {
    const object = { apiVersion: 'v1', kind, metadata: { name: 'web', namespace: 'shop' } }
    const all = [parameters('class', { deployment: {}, env: [] }), parameters('own', { resources: {}, service: {} })]
    expect(refusalText(error, object, all)).toBe(expected)
  })
})
