import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CREDENTIAL_FIELDS, credentialFinder } from './brought-credentials.ts'
import type { KubeObject } from './kube.ts'
import { snapshotOf } from './snapshot.ts'
import { Defects } from './defects.ts'

const SCHEMA = fileURLToPath(new URL('../../api/v1alpha1/schema/', import.meta.url))

const GW = { apiVersion: 'gw.dev/v1alpha1' }
const ROUTES = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' }
const KEYED = { static: { host: 'h', port: 80 }, policies: { auth: { secretRef: { name: 's' } } } }
const PLAIN = { static: { host: 'h', port: 80 } }

function brings(to: readonly [group: string, kind: string, name: string], ...objects: readonly object[]): boolean {
  // Written below with the shape of their kinds.
  const all = objects.map((object) => ({ metadata: { name: 'x', namespace: 'far' }, ...object })) as KubeObject[]
  const snapshot = snapshotOf(all)
  expect(snapshot.malformed).toEqual([])
  const [group, kind, name] = to
  const from = { group: 'gw.dev', kind: 'GwPolicy', namespace: 'near' }
  return credentialFinder(() => snapshot, new Defects())({ from, to: { group, kind, namespace: 'far', name } })
}

const BACKEND = ['gw.dev', 'GwBackend', 'x'] as const
const SERVICE = ['', 'Service', 'x'] as const
const POOL = ['inference.networking.k8s.io', 'InferencePool', 'x'] as const
const ROUTE = ['gateway.networking.k8s.io', 'HTTPRoute', 'x'] as const

const service = (name = 'x', namespace = 'far') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels: { pick: 'me' } },
  spec: { ports: [{ port: 80 }] },
})
const backend = (spec: object, name = 'x', namespace = 'far') => ({
  ...GW,
  kind: 'GwBackend',
  metadata: { name, namespace },
  spec,
})
const policyOf = (target: object, sections: object) => ({ ...GW, kind: 'GwPolicy', spec: { ...target, ...sections } })
const onService = { targetRefs: [{ group: '', kind: 'Service', name: 'x', sectionName: '80' }] }
const SENDS_KEY = { backend: { auth: { key: 'k' } } }
const pool = {
  apiVersion: 'inference.networking.k8s.io/v1',
  kind: 'InferencePool',
  spec: { selector: { matchLabels: { a: 'b' } }, targetPorts: [{ number: 1 }], endpointPickerRef: { name: 'x' } },
}
const childOf = (ref: object) => ({ ...ROUTES, spec: { rules: [{ backendRefs: [ref] }] } })

describe('credentialFinder', () => {
  it.each([
    ['a backend with a Secret', BACKEND, [backend(KEYED)], true],
    ['a backend without credentials', BACKEND, [backend(PLAIN)], false],
    [
      'a backend that passes the key of the client on',
      BACKEND,
      [backend({ ...PLAIN, policies: { auth: { passthrough: {} } } })],
      false,
    ],
    [
      'a backend with a client certificate',
      BACKEND,
      [backend({ ...PLAIN, policies: { tls: { mtlsCertificateRef: [{ name: 's' }] } } })],
      true,
    ],
    [
      'a provider with a key',
      BACKEND,
      [backend({ ai: { groups: [{ providers: [{ name: 'p', p1: {}, policies: { auth: { key: 'k' } } }] }] } })],
      true,
    ],
    [
      'a backend behind a tunnel with a Secret',
      BACKEND,
      [
        backend({ ...PLAIN, policies: { tunnel: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'y' } } } }),
        backend(KEYED, 'y'),
      ],
      true,
    ],
    [
      'a backend whose tunnel leads back to the namespace that asks',
      BACKEND,
      [
        backend({
          ...PLAIN,
          policies: { tunnel: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'y', namespace: 'near' } } },
        }),
        backend(KEYED, 'y', 'near'),
      ],
      false,
    ],
    [
      'backends in a circle',
      BACKEND,
      [backend({ ...PLAIN, policies: { tunnel: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'x' } } } })],
      false,
    ],
    [
      'an MCP selector that finds a Service with a key',
      BACKEND,
      [
        backend({ mcp: { targets: [{ name: 't', selector: { services: { matchLabels: { pick: 'me' } } } }] } }),
        service(),
        policyOf(onService, SENDS_KEY),
      ],
      true,
    ],
    [
      'an MCP selector that finds a Service without',
      BACKEND,
      [backend({ mcp: { targets: [{ name: 't', selector: {} }] } }), service()],
      false,
    ],
    [
      'a selector that cannot be understood',
      BACKEND,
      [backend({ mcp: { targets: [{ name: 't', selector: { namespaces: { matchExpressions: 7 } } }] } }), service()],
      true,
    ],
    ['a Service without policies', SERVICE, [service()], false],
    ['a Service that is not there', SERVICE, [], false],
    ['a Service with a policy that sends a key', SERVICE, [service(), policyOf(onService, SENDS_KEY)], true],
    [
      'a Service with a policy without credentials',
      SERVICE,
      [service(), policyOf(onService, { backend: { tls: {} } })],
      false,
    ],
    [
      'a Service that a policy finds by its label',
      SERVICE,
      [
        service(),
        policyOf({ targetSelectors: [{ group: '', kind: 'Service', matchLabels: { pick: 'me' } }] }, SENDS_KEY),
      ],
      true,
    ],
    [
      'a Service that a policy would find by another label',
      SERVICE,
      [
        service(),
        policyOf({ targetSelectors: [{ group: '', kind: 'Service', matchLabels: { pick: 'not' } }] }, SENDS_KEY),
      ],
      false,
    ],
    [
      'a Service whose policy asks a backend with a Secret',
      SERVICE,
      [
        service(),
        policyOf(onService, {
          backend: { extAuth: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'y' } } },
        }),
        backend(KEYED, 'y'),
      ],
      true,
    ],
    ['a pool whose picker is called with a key', POOL, [pool, service(), policyOf(onService, SENDS_KEY)], true],
    ['a pool whose picker is called without', POOL, [pool, service()], false],
    [
      'a route that leads to a backend with a Secret',
      ROUTE,
      [childOf({ group: 'gw.dev', kind: 'GwBackend', name: 'x' }), backend(KEYED)],
      true,
    ],
    [
      'a route that leads to every route, one of them to a Secret',
      ROUTE,
      [
        childOf({ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: '*' }),
        { ...childOf({ group: 'gw.dev', kind: 'GwBackend', name: 'x' }), metadata: { name: 'y', namespace: 'far' } },
        backend(KEYED),
      ],
      true,
    ],
    [
      'a route with a policy that checks passwords',
      ROUTE,
      [
        childOf({ name: 'x', port: 80 }),
        policyOf(
          { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'x' }] },
          { traffic: { basicAuthentication: { users: ['u'] } } },
        ),
      ],
      true,
    ],
    ['a route without any of that', ROUTE, [childOf({ name: 'x', port: 80 }), service()], false],
  ] as const)('%s', (_, to, objects, expected) => {
    expect(brings(to, ...objects)).toBe(expected)
  })

  it('covers every field of the schema that names a Secret', () => {
    const files = readdirSync(SCHEMA, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'))
    const found = files.flatMap((file) =>
      [
        ...readFileSync(join(SCHEMA, file), 'utf8').matchAll(
          /^ +(\w*(?:[sS]ecret|[cC]ertificate|signingKey)\w*(?:Ref|Selector)):/gm,
        ),
      ].flatMap(([, field]) => field ?? []),
    )
    expect(found).toContain('mtlsCertificateRef')
    expect(new Set(found.filter((field) => !CREDENTIAL_FIELDS.has(field)))).toEqual(new Set(['secretKeyRef']))
  })
})
