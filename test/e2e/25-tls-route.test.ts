// TLSRoutes: bytes are forwarded by server name, to a Service or to the host that the client names (dynamic).
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { certificateFor } from '../certificates.ts'
import { send, until } from './suite/client.ts'
import { applyObject, kubectl } from './suite/kubectl.ts'
import { NAMESPACE, programmed, serviceOf } from './suite/samples.ts'

const INSIDE = serviceOf('inside')
const FRONT = serviceOf('front')
const pair = certificateFor({ commonName: INSIDE, names: [`DNS:${INSIDE}`, 'DNS:fixed.example.com'] })
const fingerprint = new X509Certificate(pair.certificate).fingerprint256

function object(kind: string, name: string, spec: unknown): Record<string, unknown> {
  const apiVersion = kind.startsWith('Gw') ? 'gw.dev/v1alpha1' : 'gateway.networking.k8s.io/v1'
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, spec }
}

function gateway(name: string, listener: object): Record<string, unknown> {
  return object('Gateway', name, { gatewayClassName: 'gw', listeners: [{ name: 'tls', port: 443, ...listener }] })
}

function route(kind: string, name: string, spec: object): Record<string, unknown> {
  return object(kind, name, { parentRefs: [{ name: kind === 'TLSRoute' ? 'front' : 'inside' }], ...spec })
}

function tlsRoute(name: string, hostname: string, backendRef: object): Record<string, unknown> {
  return route('TLSRoute', name, { hostnames: [hostname], rules: [{ backendRefs: [backendRef] }] })
}

const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'inside', namespace: NAMESPACE },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': pair.certificate, 'tls.key': pair.privateKey },
  },
  gateway('inside', { protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'inside' }] } }),
  route('HTTPRoute', 'inside', { rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }] }),
  gateway('front', { protocol: 'TLS', tls: { mode: 'Passthrough' } }),
  object('GwBackend', 'any', { dynamicForwardProxy: {} }),
  tlsRoute('any', '*.svc.cluster.local', { group: 'gw.dev', kind: 'GwBackend', name: 'any' }),
]
const FIXED = tlsRoute('fixed', 'fixed.example.com', { name: 'inside', port: 443 })

beforeAll(async () => {
  for (const one of OBJECTS) await applyObject(one)
  await programmed('inside')
  await programmed('front')
})

afterAll(async () => {
  const list = { apiVersion: 'v1', kind: 'List', items: [...OBJECTS, FIXED] }
  await kubectl(['delete', '--ignore-not-found', '-f', '-'], JSON.stringify(list))
})

const ask = (serverName: string): { url: string; host: string; serverName: string } => ({
  url: `https://${FRONT}/`,
  host: serverName,
  serverName,
})

describe('TLSRoute', () => {
  it('forwards to the host that the client names, without decryption', async () => {
    await until(ask(INSIDE), { status: 200, certificate: fingerprint })
    expect((await send(ask('absent.demo.svc.cluster.local'))).error).toBeDefined()
  })

  it('that is added later takes effect, and loses it when it is removed', async () => {
    expect((await send(ask('fixed.example.com'))).error).toBeDefined()
    await applyObject(FIXED)
    await until(ask('fixed.example.com'), { status: 200, certificate: fingerprint })
    await kubectl(['delete', 'tlsroute', '-n', NAMESPACE, 'fixed'])
    await until(ask('fixed.example.com'), { error: true })
    await until(ask(INSIDE), { status: 200 })
  })
})
