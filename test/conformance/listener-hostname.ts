// Gateway listeners[].hostname: which listener of a port answers, by the Host of a request and by the server name of a
// handshake; and which routes have a matching host name.
import { expect } from 'vitest'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import { secured, textFrom } from './suite/https.ts'
import { adding } from './suite/services.ts'

const PLAIN = 'route-matching.yaml'
const TLS = 'local/tls-https.yaml'
const LISTENERS = { exact: 'shop.example.com', wildcard: '*.example.com', any: undefined } as const

/** A route for each listener, whose response has the name of the listener. */
const plain = all(
  changing('Gateway/route-matching', {
    listeners: Object.entries(LISTENERS).map(([name, hostname]) => ({
      name,
      port: 8080,
      protocol: 'HTTP',
      ...(hostname !== undefined && { hostname }),
    })),
  }),
  adding(
    ...Object.keys(LISTENERS).map((name) => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name, namespace: 'default' },
      spec: {
        parentRefs: [{ name: 'route-matching', sectionName: name }],
        rules: [
          {
            filters: [
              {
                type: 'ResponseHeaderModifier',
                responseHeaderModifier: { set: [{ name: 'x-listener', value: name }] },
              },
            ],
            backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'echo' }],
          },
        ],
      },
    })),
  ),
  // A host name that does not conflict.
  changing('HTTPRoute/route-matching', { hostnames: ['unused.example.org'], parentRefs: [{ name: 'other' }] }),
)

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ListenerHostname',
    description: 'of the listeners of a port the one with the most specific host name gets a request',
    sample: PLAIN,
    change: plain,
    async run(gateway) {
      const hosts = {
        'shop.example.com': 'exact',
        'SHOP.example.com': 'exact',
        'shop.example.com:8080': 'exact',
        'blog.example.com': 'wildcard',
        'a.b.example.com': 'wildcard',
        'example.com': 'any',
        'www.example.org': 'any',
      }
      for (const [host, listener] of Object.entries(hosts)) {
        const { headers } = await gateway.ask('/', { headers: { host } })
        expect([host, headers['x-listener']]).toEqual([host, listener])
      }
    },
  },
  {
    shortName: 'ListenerHostnameOfNoRoute',
    description: 'a listener rejects requests for other hosts, and routes that have only other hosts',
    sample: PLAIN,
    change: changing('Gateway/route-matching', {
      listeners: [{ name: 'http', port: 8080, protocol: 'HTTP', hostname: '*.example.org' }],
    }),
    async run(gateway) {
      for (const host of ['shop.example.com', 'www.example.org']) {
        expect(await gateway.ask('/orders', { headers: { host } })).toMatchObject({ status: 404 })
      }
      const message = 'no hostnames matched parent hostname "*.example.org"'
      const [accepted] = gateway.conditions('HTTPRoute', 'route-matching')
      expect(accepted).toMatchObject({ status: 'False', reason: 'NoMatchingListenerHostname' })
      expect(accepted?.message).toContain(message)
      expect(gateway.log()).toContain(message)
    },
  },
  {
    shortName: 'ListenerHostnameOfHandshake',
    description: 'the server name of a client selects listener and certificate; a name of no listener is rejected',
    sample: TLS,
    async run({ port }) {
      const named = async (servername: string): Promise<unknown> => {
        const socket = await secured({ port, servername })
        const { subject } = socket.getPeerCertificate()
        socket.destroy()
        return subject.CN
      }
      expect(await named('shop.example.com')).toBe('shop.example.com')
      expect(await named('edge.example.com')).toBe('*.example.com')
      await expect(named('www.example.org')).rejects.toThrow(/unrecognized name/)
    },
  },
  {
    shortName: 'ListenerHostnameMisdirected',
    description: 'a request for the host of another listener than that of its connection gets 421',
    sample: TLS,
    async run({ port }) {
      // The Host is edge.example.com, independent of the server name of the handshake.
      expect(await textFrom(await secured({ port, servername: 'edge.example.com' }), '/')).toMatch(/^HTTP\/1\.1 200 /)
      expect(await textFrom(await secured({ port, servername: 'shop.example.com' }), '/')).toMatch(/^HTTP\/1\.1 421 /)
    },
  },
]
