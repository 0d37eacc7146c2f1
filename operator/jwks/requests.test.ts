// What references to key sets lead to (resources supplement section 6.8), and what is shared.
import { beforeAll, describe, expect, it } from 'vitest'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import type { KubeObject } from '../translate/kube.ts'
import { snapshotOf } from '../translate/snapshot.ts'
import { jwksRequests, type OwnedRequest } from './requests.ts'

const GW = 'gw.dev/v1alpha1'
const HOST = 'idp.shop.svc.cluster.local'
let ca: KeyPair
let client: KeyPair

beforeAll(() => {
  ca = authority()
  client = certificateFor({ commonName: 'operator', issuer: ca })
})

type Fields = Readonly<Record<string, unknown>>

function object(kind: string, name: string, rest: Fields, apiVersion = GW): KubeObject {
  const metadata = { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z', labels: { is: name } }
  return { apiVersion, kind, metadata, ...rest }
}

const service = (name = 'idp') =>
  object(
    'Service',
    name,
    {
      spec: {
        ports: [
          { name: 'keys', port: 443 },
          { name: 'other', port: 80 },
        ],
      },
    },
    'v1',
  )
const backend = (spec: Fields, name = 'idp') => object('GwBackend', name, { spec })
const STATIC = { static: { host: 'idp.example', port: 443 } }
const toService = { name: 'idp', port: 443 }
const toBackend = { group: 'gw.dev', kind: 'GwBackend', name: 'idp' }
const TARGETS = { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }] }

function policy(backendRef: Fields, more: Fields = {}, name = 'jwt'): KubeObject {
  const remote = { jwksPath: 'keys', backendRef, ...more }
  const jwtAuthentication = { providers: [{ issuer: 'i', jwks: { remote } }] }
  return object('GwPolicy', name, { spec: { ...TARGETS, traffic: { jwtAuthentication } } })
}

function tlsPolicy(ref: Fields, tls: Fields): KubeObject {
  return object('GwPolicy', 'tls', { spec: { targetRefs: [{ group: '', name: 'idp', ...ref }], backend: { tls } } })
}

function requests(...objects: readonly KubeObject[]): readonly OwnedRequest[] {
  return jwksRequests(snapshotOf(objects), { clusterDomain: 'cluster.local' })
}

function only(...objects: readonly KubeObject[]): OwnedRequest {
  const [one, second] = requests(...objects)
  expect(second).toBeUndefined()
  if (one === undefined) throw new Error('no request')
  return one
}

const allFields = () => ({
  sni: 'idp.test',
  caCertificateRefs: [{ name: 'ca' }],
  mtlsCertificateRef: [{ name: 'client' }],
  verifySubjectAltNames: ['a.test'],
  alpnProtocols: ['http/1.1'],
  keyExchangeGroups: ['X25519'],
})

function material(): KubeObject[] {
  const data = {
    'tls.crt': Buffer.from(client.certificate).toString('base64'),
    'tls.key': Buffer.from(client.privateKey).toString('base64'),
  }
  return [
    object('ConfigMap', 'ca', { data: { 'ca.crt': ca.certificate } }, 'v1'),
    object('Secret', 'client', { type: 'kubernetes.io/tls', data }, 'v1'),
  ]
}

const expectAllFields = ({ url, tls }: OwnedRequest): void => {
  expect(url).toMatch(/^https:/)
  expect(tls).toMatchObject({
    serverName: 'idp.test',
    verifySubjectAltNames: ['a.test'],
    keyExchangeGroups: ['X25519'],
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(tls?.caCertificates).toContain(ca.certificate.trim())
  expect(tls?.clientCertificate).toContain(client.certificate.trim())
  expect(tls?.clientKey).toContain(client.privateKey.trim())
}

describe('a static GwBackend', () => {
  const ref = { group: 'gw.dev', kind: 'GwBackend' }
  const at = (policies: Fields) => backend({ ...STATIC, policies })

  it('in clear text, whatever its port', () => {
    const request = only(policy(toBackend), backend(STATIC))
    expect(request).toEqual({
      key: '["http://idp.example:443/keys",""]',
      url: 'http://idp.example:443/keys',
      place: { host: 'idp.example', port: 443 },
      path: '/keys',
      refresh: { afterMs: 300_000 },
    })
  })

  it('with TLS of the backend: default, insecure, all fields', () => {
    expect(only(policy(toBackend), at({ tls: {} }))).toMatchObject({ url: 'https://idp.example:443/keys' })
    const insecure = only(policy(toBackend), at({ tls: { insecureSkipVerify: 'All' } }))
    expect(insecure.tls).toMatchObject({ insecureSkipVerify: 'All' })
    expectAllFields(only(policy(toBackend), at({ tls: allFields() }), ...material()))
  })

  it('with TLS of a policy: default, insecure, all fields; TLS of the backend takes precedence', () => {
    const server = backend(STATIC)
    expect(only(policy(toBackend), server, tlsPolicy(ref, {})).url).toBe('https://idp.example:443/keys')
    const insecure = only(policy(toBackend), server, tlsPolicy(ref, { insecureSkipVerify: 'Hostname' }))
    expect(insecure.tls).toMatchObject({ insecureSkipVerify: 'Hostname' })
    expectAllFields(only(policy(toBackend), server, tlsPolicy(ref, allFields()), ...material()))
    const both = only(policy(toBackend), at({ tls: {} }), tlsPolicy(ref, { insecureSkipVerify: 'All' }))
    expect(both.tls).not.toHaveProperty('insecureSkipVerify')
  })

  it('through a tunnel, with the TLS of the proxy; no unix path, no chain', () => {
    const tunnel = { backendRef: { ...toBackend, name: 'proxy' } }
    const proxy = (fields: Fields) => backend(fields, 'proxy')
    const place = { static: { host: 'proxy.example', port: 3128 } }
    const plain = only(policy(toBackend), at({ tunnel }), proxy(place))
    expect(plain.proxy).toEqual({ place: { host: 'proxy.example', port: 3128 } })
    const secure = only(policy(toBackend), at({ tunnel }), proxy({ ...place, policies: { tls: {} } }))
    expect(secure.proxy?.tls).toBeDefined()
    const direct = only(policy(toBackend), backend(STATIC))
    expect(new Set([plain.key, secure.key, direct.key]).size).toBe(3)
    const byService = at({ tunnel: { backendRef: { name: 'idp', port: 80 } } })
    expect(only(policy(toBackend), byService, service()).proxy).toEqual({ place: { host: HOST, port: 80 } })
    for (const wrong of [
      proxy({ ...place, policies: { tunnel } }),
      proxy({ static: { unixPath: '/run/p' } }),
      proxy({ mcp: { targets: [] } }),
    ]) {
      expect(requests(policy(toBackend), at({ tunnel }), wrong)).toEqual([])
    }
  })

  it('on a unix socket, which the controller never opens; one that is missing; one that is not static', () => {
    expect(requests(policy(toBackend), backend({ static: { unixPath: '/run/idp' } }))).toEqual([])
    expect(requests(policy(toBackend))).toEqual([])
    expect(requests(policy(toBackend), backend({ mcp: { targets: [] } }))).toEqual([])
  })
})

describe('a Service', () => {
  it('in clear text, with a path that begins with slashes or not', () => {
    expect(only(policy(toService), service()).url).toBe(`http://${HOST}:443/keys`)
    const slashes = only(policy(toService, { jwksPath: '//keys' }), service())
    expect([slashes.url, slashes.path]).toEqual([`http://${HOST}:443/keys`, '/keys'])
  })

  it('with TLS of a policy: default, all fields, insecure; the policy on the port takes precedence', () => {
    const on = (tls: Fields, sectionName?: string) =>
      tlsPolicy({ kind: 'Service', ...(sectionName !== undefined && { sectionName }) }, tls)
    expect(only(policy(toService), service(), on({})).url).toBe(`https://${HOST}:443/keys`)
    expectAllFields(only(policy(toService), service(), on(allFields()), ...material()))
    const whole = on({ insecureSkipVerify: 'All' })
    expect(only(policy(toService), service(), whole).tls).toMatchObject({ insecureSkipVerify: 'All' })
    const port = { ...on({ sni: 'port' }, 'keys'), metadata: { ...whole.metadata, name: 'zz-later' } }
    expect(only(policy(toService), service(), whole, port).tls).toMatchObject({ serverName: 'port' })
    expect(only(policy(toService), service(), on({}, 'other')).url).toMatch(/^http:/)
  })

  it('with TLS settings that cannot be applied: never in clear text', () => {
    const broken = tlsPolicy({ kind: 'Service' }, { caCertificateRefs: [{ name: 'missing' }] })
    expect(requests(policy(toService), service(), broken)).toEqual([])
  })
})

describe('owners', () => {
  it('share a request, and the shortest time to live counts', () => {
    const later = policy(toService, { cacheDuration: '10m' }, 'b')
    expect(only(policy(toService, { cacheDuration: '20m' }), later, service()).refresh).toEqual({ afterMs: 600_000 })
    expect(only(later, policy(toService), service()).refresh).toEqual({ afterMs: 300_000 })
  })

  it('are policies with targets, and backends', () => {
    const authentication = { jwks: { jwksPath: 'keys', backendRef: toService } }
    const mcp = { mcp: { authentication } }
    const attached = object('GwPolicy', 'mcp', { spec: { ...TARGETS, backend: mcp } })
    const inline = backend({ mcp: { targets: [] }, policies: mcp }, 'tools')
    expect(requests(attached, service())).toHaveLength(1)
    expect(requests(inline, service())).toHaveLength(1)
    expect(requests(attached, inline, policy(toService), service())).toHaveLength(1)
    expect(requests(object('GwPolicy', 'mcp', { spec: { backend: mcp } }), service())).toEqual([])
  })
})

describe('a key server of another namespace', () => {
  const far = service()
  const objects = [
    policy({ ...toService, namespace: 'other' }),
    { ...far, metadata: { ...far.metadata, namespace: 'other' } },
  ]
  const grant = (kind: string): KubeObject => {
    const from = [{ group: 'gw.dev', kind, namespace: 'shop' }]
    const spec = { from, to: [{ group: '', kind: 'Service', name: 'idp' }] }
    const made = object('ReferenceGrant', 'keys', { spec }, 'gateway.networking.k8s.io/v1')
    return { ...made, metadata: { ...made.metadata, namespace: 'other' } }
  }

  it.each([
    ['none', undefined, 1],
    ['route', undefined, 1],
    ['route-and-policy', undefined, 0],
    ['route-and-policy', 'HTTPRoute', 0],
    ['route-and-policy', 'GwPolicy', 1],
  ] as const)('in mode %s with a grant to %s: %i requests', (backendRefGrantMode, kind, count) => {
    const snapshot = snapshotOf([...objects, ...(kind === undefined ? [] : [grant(kind)])])
    expect(jwksRequests(snapshot, { clusterDomain: 'cluster.local', backendRefGrantMode })).toHaveLength(count)
  })
})
