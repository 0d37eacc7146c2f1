// Secrets for which a delivery has no room: the objects that use them report it, and the others do not.
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { deliveryOf } from '#test/fakekube/delivery.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { until } from '#test/wait.ts'
import { configFor, testOperator } from './operator.testing.ts'
import { kubeForEachTest } from './queue-world.testing.ts'

const kube = kubeForEachTest()

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const POLICIES = 'gwpolicies.gw.dev'
/** Base64 shrinks by a quarter: 8 objects of 1 MiB have no room for all of them. */
const POLICY_COUNT = 9
const SMALL = 'small'

/** `chars` of text that gzip shrinks as little as keys and certificates. */
function noise(seed: string, chars: number): string {
  const line = (_: unknown, at: number): string => createHash('sha512').update(`${seed} ${at}`).digest('base64')
  return Array.from({ length: Math.ceil(chars / 88) }, line)
    .join('')
    .slice(0, chars)
}

function make(resource: string, object: FakeObject): void {
  kube().store.create(resource, object)
}

function secret(name: string, data: Readonly<Record<string, string>>): void {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const)
  make('secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'shop' },
    data: Object.fromEntries(encoded),
  })
}

function gateway(): void {
  const tls = (name: string): object => ({ tls: { certificateRefs: [{ name }] } })
  make(GATEWAYS, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      gatewayClassName: 'gw',
      listeners: [
        { name: 'large', port: 443, protocol: 'HTTPS', hostname: 'large.example.com', ...tls('large-certificate') },
        { name: SMALL, port: 443, protocol: 'HTTPS', hostname: 'small.example.com', ...tls('small-certificate') },
      ],
    },
  })
}

/** A route with a policy that reads a Secret. */
function protectedRoute(name: string, chars: number): void {
  secret(name, { Authorization: noise(name, chars) })
  make('services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop' },
    spec: { ports: [{ port: 80 }] },
  })
  make('httproutes.gateway.networking.k8s.io', {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, namespace: 'shop' },
    spec: { parentRefs: [{ name: 'web', sectionName: SMALL }], rules: [{ backendRefs: [{ name, port: 80 }] }] },
  })
  make(POLICIES, {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name, namespace: 'shop' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name }],
      backend: { auth: { secretRef: { name } } },
    },
  })
}

interface Conditions {
  readonly name?: string
  readonly conditions?: ReadonlyArray<{ type: string; status: string; reason: string; message: string }>
}

/** `entry`: of a listener, by its name. */
function condition(resource: string, name: string, type: string, entry?: string) {
  const object = kube().store.get(resource, `shop/${name}`)
  const {
    conditions = [],
    listeners = [],
    ancestors = [],
  } = (object?.['status'] ?? {}) as Conditions & {
    readonly listeners?: readonly Conditions[]
    readonly ancestors?: readonly Conditions[]
  }
  const inside = [...listeners.filter((one) => one.name === entry), ...ancestors]
  const all =
    entry === undefined
      ? [...conditions, ...ancestors.flatMap((one) => one.conditions ?? [])]
      : inside.flatMap((one) => one.conditions ?? [])
  return all.find((one) => one.type === type)
}

function reasonsOf(resource: string, name: string, entry?: string): string[] {
  return ['Accepted', 'Attached', 'Programmed', 'ResolvedRefs'].flatMap((type) => {
    const found = condition(resource, name, type, entry)
    return found === undefined ? [] : [`${type}=${found.status} ${found.reason}`]
  })
}

it('names them in the statuses of their listeners and policies until they fit', { timeout: 120_000 }, async () => {
  const pair = certificateFor({ commonName: 'example.com' })
  secret('small-certificate', { 'tls.crt': pair.certificate, 'tls.key': pair.privateKey })
  secret('large-certificate', {
    'tls.crt': `${pair.certificate}\n${noise('chain', 1_400_000)}`,
    'tls.key': pair.privateKey,
  })
  gateway()
  for (let at = 0; at < POLICY_COUNT; at++) protectedRoute(`policy-${at}`, 1_100_000 + at)
  protectedRoute(SMALL, 1000)
  const running = await testOperator({ config: configFor(kube().url) })
  try {
    const [largest, fits] = [`policy-${POLICY_COUNT - 1}`, 'policy-0']
    await until(
      'the listener reports it',
      () => condition(GATEWAYS, 'web', 'Programmed', 'large')?.status === 'False',
      60_000,
    )
    await until('the policy reports it', () => condition(POLICIES, largest, 'Attached')?.status === 'False', 60_000)
    expect(reasonsOf(GATEWAYS, 'web', 'large')).toEqual([
      'Accepted=True Accepted',
      'Programmed=False SecretsNotDelivered',
      'ResolvedRefs=False SecretsNotDelivered',
    ])
    expect(condition(GATEWAYS, 'web', 'Programmed', 'large')?.message).toBe(
      'Secret shop/large-certificate is not delivered: Gateway shop/web has no room for it. Traffic that needs it is ' +
        'rejected. Make the Secret smaller, or move some Secrets to another Gateway',
    )
    expect(reasonsOf(POLICIES, largest)).toEqual(['Accepted=True Valid', 'Attached=False SecretsNotDelivered'])
    expect(condition(POLICIES, largest, 'Attached')?.message).toContain(`Secret shop/${largest} is not delivered`)
    expect(condition(GATEWAYS, 'web', 'Accepted')?.message).toBe(
      'Some listeners are not accepted: large: SecretsNotDelivered',
    )
    // The others are served, and report nothing.
    expect(reasonsOf(GATEWAYS, 'web', SMALL)).toEqual([
      'Accepted=True Accepted',
      'Programmed=True Programmed',
      'ResolvedRefs=True ResolvedRefs',
    ])
    for (const name of [SMALL, fits]) {
      // Statuses are written one after the other.
      await until(`policy ${name} has a status`, () => reasonsOf(POLICIES, name).length > 0, 60_000)
      expect(reasonsOf(POLICIES, name)).toEqual(['Accepted=True Valid', 'Attached=True Attached'])
    }
    const keys = (deliveryOf(kube().store, 'shop', 'web')?.secrets.secrets ?? []).map(({ key }) => key)
    expect(keys).toContain(`shop/${fits}/Authorization`)
    expect(keys).not.toContain(`shop/${largest}/Authorization`)
    const messages = (): unknown[] =>
      kube()
        .store.list('events')
        .map(({ reason, involvedObject }) => [reason, involvedObject])
    await until('the policy has an Event', () => JSON.stringify(messages()).includes(`"name":"${largest}"`), 30_000)
    // The whole of it has room again.
    for (const name of [largest, 'large-certificate']) kube().store.delete('secrets', `shop/${name}`)
    secret(largest, { Authorization: 'short' })
    secret('large-certificate', { 'tls.crt': pair.certificate, 'tls.key': pair.privateKey })
    await until(
      'the listener is programmed',
      () => condition(GATEWAYS, 'web', 'Programmed', 'large')?.status === 'True',
      60_000,
    )
    await until('the policy is attached', () => condition(POLICIES, largest, 'Attached')?.status === 'True', 60_000)
    expect(condition(GATEWAYS, 'web', 'Accepted')?.reason).toBe('Accepted')
  } finally {
    await running.stop()
  }
})
