// Which routes are reported, and at which position.
import { describe, expect, it } from 'vitest'
import { loadManifests } from './load.ts'
import { lostParents } from './lost-parents.ts'

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {gatewayClassName: gw, listeners: [{name: web, port: 80, protocol: HTTP}]}
`
const route = (parents: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs:
    ${parents}
`

const lost = (...texts: readonly string[]): string[] =>
  lostParents(loadManifests([{ path: 'f.yaml', text: texts.join('---') }])).map(
    ({ line, path, message, severity }) => `${line} ${severity} ${path}: ${message}`,
  )

describe('lostParents', () => {
  it('reports a missing parent at its line', () => {
    expect(lost(GATEWAY, route('- {name: edge, namespace: infra}\n    - {name: edge}'))).toEqual([
      '13 warning spec.parentRefs[1]: Gateway shop/edge is not among these manifests: the route is not served there',
    ])
    expect(lost(GATEWAY, route('- {kind: ListenerSet, name: more}'))).toEqual([
      '12 warning spec.parentRefs[0]: ListenerSet shop/more is not among these manifests: the route is not served there',
    ])
  })

  it('reports it also if there is no Gateway at all', () => {
    expect(lost(route('- {name: edge}'))).toEqual([expect.stringContaining('Gateway shop/edge is not among these')])
  })

  it('does not report a parent that has errors of its own', () => {
    const broken = GATEWAY.replace('port: 80', 'port: 70000')
    expect(lost(broken, route('- {name: edge, namespace: infra}'))).toEqual([])
  })

  it('does not report parents of other kinds', () => {
    expect(lost(GATEWAY, route('- {group: "", kind: Service, name: web}'))).toEqual([])
  })
})
