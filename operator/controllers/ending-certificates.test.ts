// Certificates that end become Events on their Gateways: which, when, how often, and in what words.
import { it } from '@effect/vitest'
import { Effect } from 'effect'
import { TestClock } from 'effect/testing'
import { afterEach, beforeAll, describe, expect, vi } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { Listener, RenderedConfig } from '#api/ir/types.gen.ts'
import { certificateFor, type KeyPair } from '#test/certificates.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import { configFor, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { followCertificates } from './ending-certificates.ts'
import type { Occurrence } from './events.ts'

const HOUR_MS = 3_600_000
const DAYS = 4
const GATEWAY_API = 'gateway.networking.k8s.io'

let pair: KeyPair
let fromMs: number

beforeAll(() => {
  pair = certificateFor({ commonName: 'shop.example', days: DAYS })
  fromMs = Math.floor(Date.now() / 1000) * 1000
})

const gateway: Gateway = {
  apiVersion: `${GATEWAY_API}/v1`,
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  spec: { gatewayClassName: 'gw', listeners: [] },
}

function rendered(listeners: readonly Partial<Listener>[], policies: RenderedConfig['policies'] = []): RenderedGateway {
  const config: RenderedConfig = {
    version: 2,
    binds: [],
    listeners: listeners.map((listener, index) => ({
      key: `shop/web.l${index}`,
      bindKey: 'b',
      name: { gatewayNamespace: 'shop', gatewayName: 'web', listenerName: `l${index}` },
      protocol: 'HTTPS',
      ...listener,
    })),
    routes: [],
    tcpRoutes: [],
    backends: [],
    services: [],
    workloads: [],
    policies,
  }
  const secrets = ['shop/a/tls.crt', 'shop/b/tls.crt'].map((key) => ({ key, value: pair.certificate }))
  return { config, secrets: { version: 1, secrets } }
}

const using = (secret: string): Partial<Listener> => ({
  tls: { certificate: { secret: `shop/${secret}/tls.crt` }, privateKey: { secret: `shop/${secret}/tls.key` } },
})

/** What is reported at these moments, in hours since the certificate was made. */
const reportedAt = Effect.fnUntraced(function* (one: RenderedGateway, hours: readonly number[]) {
  const reported: (readonly Occurrence[])[] = []
  yield* TestClock.setTime(fromMs + (hours[0] ?? 0) * HOUR_MS)
  yield* Effect.forkChild(
    followCertificates({ gateways: () => [[gateway, one]], report: (occurrences) => reported.push(occurrences) }),
  )
  const answers: (readonly Occurrence[] | undefined)[] = []
  for (const hour of hours) {
    yield* TestClock.setTime(fromMs + hour * HOUR_MS + 60_000)
    answers.push(reported.at(-1))
  }
  return answers
})

describe('certificates that expire', () => {
  it.effect('are reported in the last quarter of their validity, every day, and when they have expired', () =>
    Effect.gen(function* () {
      const answers = yield* reportedAt(rendered([using('a')]), [-1, 0, 71, 73, 80, 95, 97])
      const date = new Date(fromMs + DAYS * 24 * HOUR_MS).toISOString().slice(0, 16)
      expect(answers.map((all) => all?.map(({ reason, turn }) => [reason, turn]))).toEqual([
        [['CertificateNotYetValid', 0]],
        [],
        [],
        [['CertificateExpiring', 0]],
        [['CertificateExpiring', 0]],
        [['CertificateExpiring', 0]],
        [['CertificateExpired', -1]],
      ])
      const [first] = answers.at(-1) ?? []
      expect(first).toMatchObject({ object: { kind: 'Gateway', namespace: 'shop', name: 'web', uid: 'u' }, afterMs: 0 })
      expect(first?.message).toMatch(
        new RegExp(
          `^listener l0: the certificate of Secret shop/a expired on ${date}:\\d\\dZ; put a new one into the Secret$`,
        ),
      )
    }),
  )

  it.effect('are reported once for all places that use them, the soonest first, at most ten', () =>
    Effect.gen(function* () {
      const listenerSet = { namespace: 'team', name: 'more' }
      const name = { gatewayNamespace: 'shop', gatewayName: 'web', listenerName: 'api', listenerSet }
      const clients = { caCertificates: pair.certificate, mode: 'AllowValidOnly' as const }
      const listeners: Partial<Listener>[] = [...Array.from({ length: 4 }, () => using('a')), { ...using('b'), name }]
      const [first, last] = [listeners[0], listeners[4]]
      listeners[0] = { ...first, tls: { ...first?.tls, clientCertificates: clients } }
      const backend = { tls: { clientCertificate: { secret: 'shop/a/tls.crt' } } }
      const policy = { key: 'backend/shop/p:tls:shop/up', policy: { backend } } as RenderedConfig['policies'][number]
      const answers = yield* reportedAt(rendered(listeners, [policy]), [90])
      const messages = answers[0]?.map(({ message }) => message.replace(/ expires on [^;]+/, ' ends'))
      expect(last).toBeDefined()
      expect(messages?.toSorted()).toEqual([
        'backend/shop/p:tls:shop/up: the certificate shown to backends of Secret shop/a ends; put a new one into the Secret',
        'listener api of ListenerSet team/more: the certificate of Secret shop/b ends; put a new one into the Secret',
        'listener l0, listener l1, listener l2, 1 more: the certificate of Secret shop/a ends; put a new one into the Secret',
        'listener l0: an authority for certificates of clients ends; add another one',
      ])
      const many = Array.from({ length: 12 }, (_, index) => `shop/s${index}/tls.crt`)
      const { config, secrets } = rendered(many.map((secret) => ({ tls: { certificate: { secret } } })))
      const all = { config, secrets: { ...secrets, secrets: many.map((key) => ({ key, value: pair.certificate })) } }
      expect((yield* reportedAt(all, [90]))[0]).toHaveLength(10)
    }),
  )

  describe('in a cluster', () => {
    afterEach(() => vi.restoreAllMocks())

    it('are a Warning on the Gateway', async () => {
      const kube = await FakeKube.withNamespaces('gw-system', 'shop')
      const data = { 'tls.crt': btoa(pair.certificate), 'tls.key': btoa(pair.privateKey) }
      const metadata = { name: 'a', namespace: 'shop' }
      kube.store.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data })
      const tls = { certificateRefs: [{ name: 'a' }] }
      const listeners = [{ name: 'https', port: 443, protocol: 'HTTPS', tls }]
      const spec = { gatewayClassName: 'gw', listeners }
      const { apiVersion, kind } = gateway
      kube.store.create(`gateways.${GATEWAY_API}`, { apiVersion, kind, metadata: { ...metadata, name: 'web' }, spec })
      // The class is there already, as the first look does not wait for it.
      kube.store.create(`gatewayclasses.${GATEWAY_API}`, {
        apiVersion,
        kind: 'GatewayClass',
        metadata: { name: 'gw' },
        spec: { controllerName: 'gw.dev/controller' },
      })
      const now = Date.now
      vi.spyOn(Date, 'now').mockImplementation(() => now() + 97 * HOUR_MS)
      const operator = await testOperator({ config: configFor(kube.url) })
      try {
        const events = () => kube.store.list('events').filter((event) => event['reason'] === 'CertificateExpired')
        await until('an Event', () => events().length > 0)
        expect(events()).toMatchObject([
          {
            type: 'Warning',
            involvedObject: { kind: 'Gateway', namespace: 'shop', name: 'web' },
            message: expect.stringContaining('listener https: the certificate of Secret shop/a expired on '),
          },
        ])
      } finally {
        await operator.stop()
        await kube.stop()
      }
    })
  })
})
