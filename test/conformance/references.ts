// References of every kind of route: to a Gateway of another namespace, one of its listeners and its port, and to a
// port of a Service of a third one. Each part is checked: a wrong one is not served, and the status has the reason.
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { ask } from './suite/ask.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { secretOf, secured, textFrom } from './suite/https.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'shared-gateway.yaml'
const GROUP = 'gateway.networking.k8s.io'
const DEADLINE_MS = 15_000
/** In the samples. */
const [PORT, OTHER_PORT] = [8080, 8090]

const PARENT = { group: GROUP, kind: 'Gateway', name: 'shared', namespace: 'infra' }
/** Its port 80 is the server echo, 81 spare, 82 a gRPC service. */
const SERVICE = { group: '', kind: 'Service', name: 'echo', namespace: 'data' }

interface Kind {
  readonly kind: string
  readonly listener: object
  readonly servicePort: number
  /** Fails unless the server of `servicePort` answers. */
  readonly visit: (port: number) => Promise<void>
}

const NOT_SERVED = /^not served|socket hang up|ECONNRESET|disconnected/

async function http(port: number): Promise<void> {
  const { status, text } = await ask(`http://127.0.0.1:${port}/`, { headers: { host: 'shop.example.com' } })
  if (status !== 200 || !text.includes('"server": "spare"')) throw new Error(`not served: ${status} ${text}`)
}

async function overTls(port: number): Promise<void> {
  const text = await textFrom(await secured({ port }), '/')
  if (!text.includes('"server": "spare"')) throw new Error(`not served: ${text}`)
}

/** An empty message; the service of the samples denies it, which is a valid response here. */
async function grpc(port: number): Promise<void> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.default_authority': 'shop.example.com',
  })
  const same = (bytes: Buffer): Buffer => bytes
  const { promise, resolve } = Promise.withResolvers<ServiceError | null>()
  const deadline = new Date(Date.now() + DEADLINE_MS)
  const path = '/envoy.service.auth.v3.Authorization/Check'
  client.makeUnaryRequest(path, same, same, Buffer.alloc(0), { deadline }, resolve)
  const error = await promise
  client.close()
  if (error !== null) throw new Error(`not served: ${error.message}`)
}

const TERMINATED = { protocol: 'TLS', tls: { mode: 'Terminate', certificateRefs: [{ name: 'edge-ec' }] } }

const KINDS: readonly Kind[] = [
  { kind: 'HTTPRoute', listener: { protocol: 'HTTP' }, servicePort: 81, visit: http },
  { kind: 'GRPCRoute', listener: { protocol: 'HTTP' }, servicePort: 82, visit: grpc },
  { kind: 'TLSRoute', listener: TERMINATED, servicePort: 81, visit: overTls },
  { kind: 'TCPRoute', listener: { protocol: 'TCP' }, servicePort: 81, visit: http },
]

/** The route of the shop as a route of this kind, with its own listeners; and more ports of the Service. */
function routeOf({ kind, listener, servicePort }: Kind, parent: object): (manifests: string) => string {
  const listeners = { first: PORT, second: OTHER_PORT }
  const hostnames = kind === 'TCPRoute' ? null : [kind === 'TLSRoute' ? 'edge.example.com' : 'shop.example.com']
  return all(
    changing('Gateway/shared', {
      listeners: Object.entries(listeners).map(([name, port]) => ({
        name,
        port,
        ...listener,
        allowedRoutes: { namespaces: { from: 'All' } },
      })),
    }),
    changing('HTTPRoute/shop', {
      parentRefs: [{ ...PARENT, ...parent }],
      hostnames,
      rules: [{ backendRefs: [{ ...SERVICE, port: servicePort }] }],
    }),
    changing('Service/echo', {
      ports: [
        { name: 'http', port: 80 },
        { name: 'spare', port: 81 },
        { name: 'grpc', port: 82, appProtocol: 'kubernetes.io/h2c' },
      ],
    }),
    replacing(
      '    port: 18081\n',
      '    port: 18081\n  - name: spare\n    port: 18084\n  - name: grpc\n    port: 18091\n',
    ),
    replacing('kind: HTTPRoute\nmetadata:\n  name: shop\n', `kind: ${kind}\nmetadata:\n  name: shop\n`),
    changing('ReferenceGrant/shop-calls-echo', { from: [{ group: GROUP, kind, namespace: 'shop' }] }),
    adding(secretOf('ec', 'infra')),
  )
}

interface ReferenceCase {
  readonly name: string
  readonly description: string
  readonly parent: object
  readonly isServedAtSecond: boolean
}

const PLACES: readonly ReferenceCase[] = [
  {
    name: 'ListenerAndPort',
    description: 'a reference to a listener and its port attaches there and nowhere else',
    parent: { sectionName: 'second', port: OTHER_PORT },
    isServedAtSecond: true,
  },
  {
    name: 'Listener',
    description: 'a reference to a listener attaches there and nowhere else',
    parent: { sectionName: 'first' },
    isServedAtSecond: false,
  },
  {
    name: 'Port',
    description: 'a reference to a port attaches to the listener of the port and nowhere else',
    parent: { port: OTHER_PORT },
    isServedAtSecond: true,
  },
]

async function expectNotServed(gateway: SampleGateway, { kind, visit }: Kind, reason: string): Promise<void> {
  await expect(visit(gateway.port)).rejects.toThrow(NOT_SERVED)
  await expect(visit(gateway.otherPort)).rejects.toThrow(NOT_SERVED)
  expect(gateway.conditions(kind, 'shop')).toContainEqual(expect.objectContaining({ status: 'False', reason }))
}

async function expectServedAtOne(
  { port, otherPort }: SampleGateway,
  { visit }: Kind,
  isServedAtSecond: boolean,
): Promise<void> {
  const [served, other] = isServedAtSecond ? [otherPort, port] : [port, otherPort]
  await visit(served)
  await expect(visit(other)).rejects.toThrow(NOT_SERVED)
}

async function expectAttachedNowhere(gateway: SampleGateway, kind: Kind): Promise<void> {
  await expectNotServed(gateway, kind, 'NotAllowedByListeners')
  expect(gateway.log()).toContain('from namespace "shop" at sectionName "first" and port')
}

export const cases: readonly ConformanceCase[] = KINDS.flatMap((kind) => [
  ...PLACES.map(({ name, description, parent, isServedAtSecond }) => ({
    shortName: `${kind.kind}: ${name}`,
    description,
    sample: SAMPLE,
    change: routeOf(kind, parent),
    run: (gateway: SampleGateway) => expectServedAtOne(gateway, kind, isServedAtSecond),
  })),
  {
    shortName: `${kind.kind}: OtherPortOfListener`,
    description: 'a reference to a listener and the port of another one attaches nowhere',
    sample: SAMPLE,
    change: routeOf(kind, { sectionName: 'first', port: OTHER_PORT }),
    run: (gateway: SampleGateway) => expectAttachedNowhere(gateway, kind),
  },
  {
    shortName: `${kind.kind}: NoSuchPortOfService`,
    description: 'a port that the Service does not have is not served',
    sample: SAMPLE,
    change: routeOf({ ...kind, servicePort: 83 }, {}),
    run: (gateway: SampleGateway) => expectNotServed(gateway, kind, 'BackendNotFound'),
  },
  {
    shortName: `${kind.kind}: NotGranted`,
    description: 'a Service of another namespace that does not grant it to this kind of route is not served',
    sample: SAMPLE,
    change: all(
      routeOf(kind, {}),
      changing('ReferenceGrant/shop-calls-echo', { from: [{ group: GROUP, kind: 'UDPRoute', namespace: 'shop' }] }),
    ),
    run: (gateway: SampleGateway) => expectNotServed(gateway, kind, 'RefNotPermitted'),
  },
])
