// Routes that delegate requests to routes of other namespaces, and what those inherit.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'delegation.yaml'
const DOCS = { headers: { host: 'docs.example.com' } }

/** The team may send requests to the routes of the site. */
const GRANT = `apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: { name: routes, namespace: default }
spec:
  from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team-shop }]
  to: [{ group: gateway.networking.k8s.io, kind: HTTPRoute }]
---
`

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'DelegationInherits',
    description: 'children get the requests that they match, with the rewrite and the policies of the parent',
    sample: SAMPLE,
    async run(gateway) {
      const cart = await gateway.echo('/shop/cart/7')
      // The rewrite is the parent's, and so is the prefix that it replaces.
      expect(cart).toMatchObject({ server: 'echo', path: '/cart/7', headers: { 'x-owner': 'site' } })
      const guide = await gateway.echo('/docs/start', DOCS)
      expect(guide).toMatchObject({ server: 'spare', path: '/docs/start', headers: { 'x-owner': 'docs' } })
    },
  },
  {
    shortName: 'DelegationMatches',
    description: 'a request that no child matches gets 404, and so does one for another host of the child',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.ask('/shop/other')).status).toBe(404)
      expect((await gateway.ask('/docs/start')).status).toBe(404)
      expect((await gateway.ask('/elsewhere')).status).toBe(404)
    },
  },
  {
    shortName: 'DelegationAuthorization',
    description: 'the authorization rules of all levels apply',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.ask('/shop/cart', { headers: { 'x-visitor': 'banned' } })).status).toBe(403)
      expect((await gateway.ask('/docs', { headers: { ...DOCS.headers, 'x-visitor': 'banned' } })).status).toBe(403)
      expect((await gateway.ask('/shop/cart', { headers: { 'x-visitor': 'welcome' } })).status).toBe(200)
    },
  },
  {
    shortName: 'DelegationWithoutConsent',
    description: 'a route of another namespace that does not name the parent gets no requests without a grant',
    sample: SAMPLE,
    change: replacing(
      '      name: site\n      namespace: default\n',
      '      name: another\n      namespace: default\n',
    ),
    async run(gateway) {
      expect((await gateway.ask('/shop/cart', { headers: { 'x-visitor': 'a' } })).status).toBe(500)
      expect((await gateway.ask('/docs', DOCS)).status).toBe(404)
      const [accepted, resolved] = gateway.conditions('HTTPRoute', 'site')
      expect(accepted).toMatchObject({ status: 'True' })
      expect(resolved).toMatchObject({ status: 'False', reason: 'BackendNotFound' })
    },
  },
  {
    shortName: 'DelegationLoop',
    description: 'a delegation cycle is answered with 500',
    sample: SAMPLE,
    change: (manifests) =>
      GRANT +
      replacing(
        '        - group: gw.dev\n          kind: GwBackend\n          name: cart\n',
        '        - group: gateway.networking.k8s.io\n          kind: HTTPRoute\n          name: site\n          namespace: default\n',
      )(manifests),
    async run(gateway) {
      const answer = await gateway.ask('/shop/cart')
      expect(answer).toMatchObject({ status: 500, text: 'route delegation cycle detected' })
      expect((await gateway.echo('/docs', DOCS)).server).toBe('spare')
    },
  },
]
