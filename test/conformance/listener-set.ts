// ListenerSet: listeners that other users add to a Gateway, if the Gateway allows it.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { ask } from './suite/ask.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { authority } from '#test/certificates.ts'
import { secretOf, secured, textFrom } from './suite/https.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'listener-set.yaml'
const GROUP = 'gateway.networking.k8s.io'
const SET = 'ListenerSet/store'
const CLOSED = /ECONNREFUSED/
/** Listeners of the sample. */
const NAMED = { name: 'named', port: 8080, protocol: 'HTTP', hostname: 'store.example.com' }
const OWN = { name: 'own', port: 8090, protocol: 'HTTP' }

/** The server that answers, or the status if none answers. */
async function answering(port: number, host: string): Promise<unknown> {
  const { status, text } = await ask(`http://127.0.0.1:${port}/`, { headers: { host } })
  return status === 200 ? JSON.parse(text).server : status
}

const conditionOf = (gateway: SampleGateway, type: string): unknown =>
  gateway.conditions('ListenerSet', 'store').find((one) => one.type === type)

async function expectServed({ port, otherPort }: SampleGateway): Promise<void> {
  expect(await answering(port, 'store.example.com')).toBe('echo')
  expect(await answering(otherPort, 'any.example.com')).toBe('echo')
}

async function expectRefused(gateway: SampleGateway): Promise<void> {
  expect(await answering(gateway.port, 'store.example.com')).toBe(404)
  await expect(answering(gateway.otherPort, 'any.example.com')).rejects.toThrow(CLOSED)
  expect(await answering(gateway.port, 'www.example.com')).toBe('spare')
  const message = 'Gateway infra/edge does not allow ListenerSets from namespace store; see its spec.allowedListeners'
  expect(conditionOf(gateway, 'Accepted')).toMatchObject({ status: 'False', reason: 'NotAllowed', message })
  expect(gateway.log()).toContain(message)
}

const team = (operator: string, ...values: readonly string[]): object => ({
  namespaces: {
    from: 'Selector',
    selector: { matchExpressions: [{ key: 'team', operator, ...(values.length > 0 && { values }) }] },
  },
})

const LETS_IN: Readonly<Record<string, object>> = {
  All: { namespaces: { from: 'All' } },
  In: team('In', 'store', 'blog'),
  NotIn: team('NotIn', 'blog'),
  Exists: team('Exists'),
}

const REFUSES: Readonly<Record<string, object | null>> = {
  Unset: null,
  None: { namespaces: { from: 'None' } },
  Same: { namespaces: { from: 'Same' } },
  Labels: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'blog' } } } },
  In: team('In', 'blog'),
  NotIn: team('NotIn', 'store'),
  DoesNotExist: team('DoesNotExist'),
}

const allowing = (allowedListeners: object | null): ((manifests: string) => string) =>
  all(
    // The selector of the sample is removed.
    changing('Gateway/edge', { allowedListeners: null }),
    changing('Gateway/edge', { allowedListeners }),
  )

/** Settings of allowedRoutes, and whether the route of the namespace blog attaches. */
const ROUTES: Readonly<Record<string, readonly [allowedRoutes: object | undefined, isAllowed: boolean]>> = {
  Unset: [undefined, false],
  Same: [{ namespaces: { from: 'Same' } }, false],
  All: [{ namespaces: { from: 'All' } }, true],
  Labels: [{ namespaces: { from: 'Selector', selector: { matchLabels: { team: 'blog' } } } }, true],
  OtherLabels: [{ namespaces: { from: 'Selector', selector: { matchLabels: { team: 'store' } } } }, false],
  Expressions: [team('In', 'blog'), true],
  OtherExpressions: [team('NotIn', 'blog'), false],
  Kind: [{ namespaces: { from: 'All' }, kinds: [{ group: GROUP, kind: 'HTTPRoute' }] }, true],
  OtherKind: [{ namespaces: { from: 'All' }, kinds: [{ group: GROUP, kind: 'GRPCRoute' }] }, false],
}

function ofRoutes([name, [allowedRoutes, isAllowed]]: readonly [
  string,
  readonly [allowedRoutes: object | undefined, isAllowed: boolean],
]): ConformanceCase {
  return {
    shortName: `ListenerSetRoutes${name}`,
    description: 'listeners of a set accept routes by namespace and kind as listeners of Gateways do',
    sample: SAMPLE,
    change: all(
      changing(SET, { listeners: [NAMED, { ...OWN, ...(allowedRoutes && { allowedRoutes }) }] }),
      replacing('name: www\n  namespace: infra', 'name: www\n  namespace: blog'),
      changing('HTTPRoute/www', {
        parentRefs: [{ kind: 'ListenerSet', name: 'store', namespace: 'store', sectionName: 'own', port: 8090 }],
      }),
      adding({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blog', labels: { team: 'blog' } } }),
      // Otherwise both match at the port, and the older one would serve.
      changing('HTTPRoute/store', { hostnames: ['store.example.com'] }),
    ),
    async run(gateway) {
      expect(await answering(gateway.otherPort, 'any.example.com')).toBe(isAllowed ? 'spare' : 404)
      const [accepted] = gateway.conditions('HTTPRoute', 'www')
      const refusal = { status: 'False', reason: 'NotAllowedByListeners' }
      expect(accepted).toMatchObject(isAllowed ? { status: 'True', reason: 'Accepted' } : refusal)
    },
  }
}

interface Secured {
  readonly tls: object
  /** Objects that the certificate needs. */
  readonly objects: () => readonly object[]
}

/** The own listener over TLS, without a name of the other one, so that only it can accept the connection. */
function overTls({ tls, objects }: Secured, protocol = 'HTTPS'): (manifests: string) => string {
  const own = { name: 'own', port: 9443, protocol, hostname: '*.example.com', tls }
  return (manifests) => all(changing(SET, { listeners: [NAMED, own] }), adding(...objects()))(manifests)
}

const SECRET = { group: '', kind: 'Secret', name: 'edge-ec', namespace: 'data' }

const granted = (kind: string): Secured => ({
  tls: { mode: 'Terminate', certificateRefs: [SECRET] },
  objects: () => [
    secretOf('ec', 'data'),
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'ReferenceGrant',
      metadata: { name: 'certificates', namespace: 'data' },
      spec: { from: [{ group: GROUP, kind, namespace: 'store' }], to: [{ group: '', kind: 'Secret' }] },
    },
  ],
})

const minted: Secured = {
  tls: {
    mode: 'Terminate',
    certificateRefs: [{ name: 'authority' }],
    options: { 'gw.dev/tls-certificate-source': 'DYNAMIC_CA' },
  },
  objects() {
    const { certificate, privateKey } = authority()
    const metadata = { name: 'authority', namespace: 'store' }
    const stringData = { 'tls.crt': certificate, 'tls.key': privateKey }
    return [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', stringData }]
  },
}

const passedOn = all(
  overTls({ tls: { mode: 'Passthrough' }, objects: () => [] }, 'TLS'),
  replacing('port: 18081', 'port: 18085'),
  replacing('kind: HTTPRoute\nmetadata:\n  name: store\n', 'kind: TLSRoute\nmetadata:\n  name: store\n'),
  changing('TLSRoute/store', { hostnames: ['echo.example.com'] }),
)

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ListenerSet',
    description: 'its listeners are added to those of the Gateway, and routes attach to either of them',
    sample: SAMPLE,
    async run(gateway) {
      await expectServed(gateway)
      expect(await answering(gateway.port, 'www.example.com')).toBe('spare')
      expect(await answering(gateway.port, 'any.example.com')).toBe(404)
      expect(conditionOf(gateway, 'Programmed')).toMatchObject({ status: 'True' })
    },
  },
  ...Object.entries(LETS_IN).map(([name, allowedListeners]) => ({
    shortName: `AllowedListeners${name}`,
    description: 'a Gateway accepts the ListenerSets of selected namespaces',
    sample: SAMPLE,
    change: allowing(allowedListeners),
    run: expectServed,
  })),
  {
    shortName: 'AllowedListenersSame',
    description: 'a Gateway accepts the ListenerSets of its own namespace',
    sample: SAMPLE,
    change: all(
      allowing({ namespaces: { from: 'Same' } }),
      replacing('  name: store\n  namespace: store\n', '  name: store\n  namespace: infra\n'),
    ),
    run: expectServed,
  },
  ...Object.entries(REFUSES).map(([name, allowedListeners]) => ({
    shortName: `AllowedListenersRefuse${name}`,
    description:
      'listeners of other namespaces are not opened, the set reports the reason, and the Gateway still serves',
    sample: SAMPLE,
    change: allowing(allowedListeners),
    run: expectRefused,
  })),
  {
    shortName: 'ListenerSetOtherParent',
    description: 'a set of another Gateway opens nothing on this one',
    sample: SAMPLE,
    change: changing(SET, { parentRef: { name: 'other' } }),
    async run({ port, otherPort }) {
      await expect(answering(otherPort, 'any.example.com')).rejects.toThrow(CLOSED)
      expect(await answering(port, 'www.example.com')).toBe('spare')
    },
  },
  {
    shortName: 'ListenerSetHostnameConflict',
    description: 'the Gateway keeps its host names; the other listeners of the set work',
    sample: SAMPLE,
    change: changing(SET, { listeners: [{ ...NAMED, hostname: 'www.example.com' }, OWN] }),
    async run(gateway) {
      expect(await answering(gateway.port, 'www.example.com')).toBe('spare')
      expect(await answering(gateway.otherPort, 'any.example.com')).toBe('echo')
      const conflicts = gateway.conditions('ListenerSet', 'store').filter(({ type }) => type === 'Conflicted')
      expect(conflicts).toMatchObject([
        { status: 'True', reason: 'HostnameConflict' },
        { status: 'False', reason: 'NoConflicts' },
      ])
      expect(gateway.log()).toContain('host name www.example.com on port')
    },
  },
  {
    shortName: 'ListenerSetProtocolConflict',
    description: 'a port that the Gateway serves with another protocol is unchanged',
    sample: SAMPLE,
    change: changing(SET, { listeners: [{ name: 'named', port: 8080, protocol: 'TCP' }, OWN] }),
    async run(gateway) {
      expect(await answering(gateway.port, 'www.example.com')).toBe('spare')
      expect(await answering(gateway.otherPort, 'any.example.com')).toBe('echo')
      expect(conditionOf(gateway, 'Conflicted')).toMatchObject({ status: 'True', reason: 'ProtocolConflict' })
    },
  },
  ...Object.entries(ROUTES).map(ofRoutes),
  {
    shortName: 'ListenerSetCertificate',
    description: 'a listener of a set uses the certificate of another namespace that grants it to ListenerSets',
    sample: SAMPLE,
    change: overTls(granted('ListenerSet')),
    async run({ otherPort }) {
      const socket = await secured({ port: otherPort })
      expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:edge.example.com')
      expect(await textFrom(socket, '/')).toContain('"server": "echo"')
    },
  },
  {
    shortName: 'ListenerSetCertificateNotGranted',
    description: 'a grant to Gateways does not apply to ListenerSets: handshakes fail, and the set reports the reason',
    sample: SAMPLE,
    change: overTls(granted('Gateway')),
    async run(gateway) {
      await expect(secured({ port: gateway.otherPort })).rejects.toThrow(/handshake failure/)
      const failing = gateway.conditions('ListenerSet', 'store').filter(({ status }) => status === 'False')
      expect(failing.map(({ reason }) => reason)).toContain('RefNotPermitted')
    },
  },
  {
    shortName: 'ListenerSetOptions',
    description:
      'listeners of a set have the same options as those of a Gateway: here certificates for every requested name',
    sample: SAMPLE,
    change: overTls(minted),
    async run({ otherPort }) {
      for (const servername of ['one.example.com', 'two.example.com']) {
        const socket = await secured({ port: otherPort, servername })
        expect(socket.getPeerCertificate().subjectaltname).toBe(`DNS:${servername}`)
        socket.destroy()
      }
    },
  },
  {
    shortName: 'ListenerSetPassthrough',
    description: 'connections to a listener of mode Passthrough end at the backend of a TLSRoute',
    sample: SAMPLE,
    change: passedOn,
    async run({ otherPort }) {
      const socket = await secured({ port: otherPort, servername: 'echo.example.com', ALPNProtocols: ['http/1.1'] })
      expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:echo.example.com')
      expect(await textFrom(socket, '/')).toContain('"server": "tls"')
    },
  },
]
