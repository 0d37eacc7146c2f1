// A defect in the translation of one object: what becomes of the object and of the others, and what is reported.
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ObjectStatus } from './object-status.ts'
import type { Defect } from './defects.ts'
import type { KubeObject } from './kube.ts'
import { accessLog } from './policy/access-log.ts'
import { csrf } from './policy/csrf.ts'
import { createSnapshotter, snapshotOf } from './snapshot.ts'
import type { Translation } from './translation.ts'
import { createTranslator } from './cluster/translator.ts'

const broken = vi.hoisted(() => new Set<string>())

vi.mock('./backend/backend.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./backend/backend.ts')>()
  return { ...original, translateBackend: unlessBroken('GwBackend', original.translateBackend) }
})
vi.mock('./route/http-route.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./route/http-route.ts')>()
  return { ...original, translateHttpRoute: unlessBroken('HTTPRoute', original.translateHttpRoute) }
})
vi.mock('./model/model.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./model/model.ts')>()
  return { ...original, serveModel: unlessBroken('GwModel', original.serveModel) }
})
vi.mock('./policy/ca-bundle.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./policy/ca-bundle.ts')>()
  return { ...original, caBundle: unlessBroken('BackendTLSPolicy', original.caBundle) }
})

const unlessBroken = vi.hoisted(() => {
  return <A extends readonly unknown[], T>(kind: string, original: (...args: A) => T) =>
    (...args: A): T => {
      if (broken.has(kind)) throw new Error(`a defect of ${kind}`)
      return original(...args)
    }
})

afterEach(() => {
  broken.clear()
  vi.restoreAllMocks()
})

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const API = 'gateway.networking.k8s.io/v1'
const OWN = 'gw.dev/v1alpha1'

const metadata = (name: string) => ({ name, namespace: 'shop', generation: 1 })

const CLUSTER = [
  { apiVersion: API, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName: 'gw.dev/controller' } },
  {
    apiVersion: API,
    kind: 'Gateway',
    metadata: metadata('web'),
    spec: {
      gatewayClassName: 'gw',
      listeners: [
        {
          name: 'http',
          port: 80,
          protocol: 'HTTP',
          allowedRoutes: { kinds: [{ kind: 'HTTPRoute' }, { group: 'gw.dev', kind: 'GwModel' }] },
        },
      ],
    },
  },
  {
    apiVersion: API,
    kind: 'HTTPRoute',
    metadata: metadata('cart'),
    spec: {
      parentRefs: [{ name: 'web' }],
      hostnames: ['cart.example.com'],
      rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'cart' }] }],
    },
  },
  { apiVersion: OWN, kind: 'GwBackend', metadata: metadata('cart'), spec: { static: { host: 'cart.test', port: 80 } } },
  {
    apiVersion: OWN,
    kind: 'GwModel',
    metadata: metadata('fast'),
    spec: { parentRefs: [{ name: 'web' }], match: { model: 'fast' }, provider: 'OpenAI' },
  },
]

function policy(name: string, spec: object): object {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'cart' }]
  return { apiVersion: OWN, kind: 'GwPolicy', metadata: metadata(name), spec: { targetRefs, ...spec } }
}

function translated(objects: readonly unknown[]): { translation: Translation; defects: readonly Defect[] } {
  const translator = createTranslator(SETTINGS)
  // The literals of this file have the shape of their kinds.
  const translation = translator.translate(snapshotOf(objects as KubeObject[]))
  return { translation, defects: translator.takeDefects() }
}

function statusOf({ statuses }: Translation, kind: string, name: string): string {
  return JSON.stringify(statuses.find((one: ObjectStatus) => one.kind === kind && one.name === name)?.status)
}

function idIn(text: string): string {
  return /internal error ([0-9a-f]{8}) of the controller/.exec(text)?.[1] ?? 'none'
}

describe('a field of a policy whose translator throws', () => {
  const objects = [...CLUSTER, policy('one', { traffic: { csrf: {} } }), policy('two', { traffic: { cors: {} } })]

  it('rejects the traffic it covers, and nothing else changes', () => {
    const sound = translated(objects).translation
    vi.spyOn(csrf, 'translate').mockImplementation(() => {
      throw new TypeError('a defect')
    })
    const { translation } = translated(objects)
    const [before, after] = [sound, translation].map(({ perGateway }) => perGateway.get('shop/web')?.config)
    const policies = after?.policies.map(({ name, policy: { traffic } }) => [name?.name, Object.keys(traffic ?? {})])
    expect(policies).toEqual([
      ['one', ['deny']],
      ['two', ['cors']],
    ])
    expect({ ...after, policies: [] }).toEqual({ ...before, policies: [] })
    expect(statusOf(translation, 'GwPolicy', 'two')).toBe(statusOf(sound, 'GwPolicy', 'two'))
  })

  it('is reported as an internal error, with the number of the log line', () => {
    vi.spyOn(csrf, 'translate').mockImplementation(() => {
      throw new TypeError('a defect')
    })
    const { translation, defects } = translated(objects)
    const status = statusOf(translation, 'GwPolicy', 'one')
    expect(status).toContain('"status":"False","reason":"InternalError"')
    expect(status).toContain('the object itself is valid')
    expect(status).not.toContain('form that the CRD')
    expect(defects).toEqual([
      {
        id: idIn(status),
        object: { apiVersion: OWN, kind: 'GwPolicy', namespace: 'shop', name: 'one' },
        path: 'spec.traffic.csrf',
        stack: expect.stringMatching(/^TypeError: a defect\n +at .*defects\.test\.ts/) as string,
      },
    ])
    expect(translation.problems.map(({ reason }) => reason)).toEqual(['InternalError'])
  })

  it('is reported once for as long as nothing changes', () => {
    vi.spyOn(csrf, 'translate').mockImplementation(() => {
      throw new TypeError('a defect')
    })
    const [snapshot, translator] = [createSnapshotter(), createTranslator(SETTINGS)]
    translator.translate(snapshot(objects as KubeObject[]))
    expect(translator.takeDefects()).toHaveLength(1)
    translator.translate(snapshot(objects as KubeObject[]))
    expect(translator.takeDefects()).toEqual([])
  })

  it('has no effect if its failure mode rejects nothing', () => {
    vi.spyOn(accessLog, 'translate').mockImplementation(() => {
      throw new TypeError('a defect')
    })
    const log = policy('log', { frontend: { accessLog: { filter: 'true' } } })
    const target = { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }] }
    const { translation, defects } = translated([...CLUSTER, { ...log, spec: { ...specOf(log), ...target } }])
    expect(statusOf(translation, 'GwPolicy', 'log')).toContain('it has no effect')
    expect([translation.perGateway.get('shop/web')?.config.policies, defects.length]).toEqual([[], 1])
  })

  it('logs no input that the error quotes', () => {
    vi.spyOn(csrf, 'translate').mockImplementation(() => JSON.parse('hunter2') as never)
    const { translation, defects } = translated(objects)
    expect(defects).toHaveLength(1)
    expect(defects[0]?.stack).toMatch(/^SyntaxError\n +at /)
    expect(JSON.stringify([defects, translation.statuses])).not.toContain('hunter')
  })
})

function specOf(object: object): object {
  return (object as { readonly spec: object }).spec
}

describe('an object whose translation throws', () => {
  it.each([
    ['GwBackend', 'cart', '"status":"False","reason":"InternalError"'],
    ['GwModel', 'fast', '"type":"ResolvedRefs","status":"False","reason":"InternalError"'],
    ['HTTPRoute', 'cart', '"type":"Accepted","status":"False","reason":"InternalError"'],
  ])('%s %s reports it, and the others stay as they are', (kind, name, expected) => {
    const sound = translated(CLUSTER).translation
    broken.add(kind)
    const { translation, defects } = translated(CLUSTER)
    const status = statusOf(translation, kind, name)
    expect(status).toContain(expected)
    expect(defects.map(({ id, object, stack }) => [id, object.kind, stack.split('\n')[0]])).toEqual([
      [idIn(status), kind, `Error: a defect of ${kind}`],
    ])
    for (const other of ['GwBackend', 'GwModel'].filter((one) => one !== kind)) {
      const of = other === 'GwModel' ? 'fast' : 'cart'
      expect(statusOf(translation, other, of)).toBe(statusOf(sound, other, of))
    }
  })

  it('keeps its requests if it is a backend: none goes to another one', () => {
    broken.add('GwBackend')
    const config = translated(CLUSTER).translation.perGateway.get('shop/web')?.config
    expect(config?.backends.find(({ key }) => key === 'shop/cart')).toMatchObject({
      invalid: expect.stringContaining('internal error') as string,
    })
    expect(config?.routes.some(({ key }) => key.includes('cart'))).toBe(true)
  })
})

describe('a BackendTLSPolicy whose translation throws', () => {
  it('rejects the traffic instead of sending it in plain text', () => {
    const objects = [
      ...CLUSTER,
      {
        apiVersion: API,
        kind: 'BackendTLSPolicy',
        metadata: metadata('tls'),
        spec: {
          targetRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'cart' }],
          validation: { hostname: 'cart.test', wellKnownCACertificates: 'System' },
        },
      },
    ]
    const rendered = ({ perGateway }: Translation) =>
      perGateway.get('shop/web')?.config.policies.map((one) => one.policy)
    expect(rendered(translated(objects).translation)).toEqual([{ backend: { tls: { sni: 'cart.test' } } }])
    broken.add('BackendTLSPolicy')
    const { translation, defects } = translated(objects)
    expect(rendered(translation)).toEqual([
      { backend: { deny: expect.objectContaining({ isBackendTls: true }) as unknown } },
    ])
    expect(statusOf(translation, 'BackendTLSPolicy', 'tls')).toContain('"status":"False","reason":"InternalError"')
    expect(defects.map(({ object }) => object.name)).toEqual(['tls'])
  })
})

describe('an object that the CRD of this version would reject', () => {
  it('causes the defect itself: only its status reports it', () => {
    broken.add('GwBackend')
    const malformed = CLUSTER.map((one) =>
      one.kind === 'GwBackend' ? { ...one, spec: { static: { host: 'cart.test', port: 'eighty' } } } : one,
    )
    const { translation, defects } = translated(malformed)
    expect(statusOf(translation, 'GwBackend', 'cart')).toContain('does not match the CRD')
    expect([statusOf(translation, 'GwBackend', 'cart').includes('InternalError'), defects]).toEqual([false, []])
  })
})
