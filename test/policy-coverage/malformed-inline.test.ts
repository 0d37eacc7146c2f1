// Inline policies of GwBackends, of their providers and MCP targets, with values that the schema rejects: the status
// has the path, the proxy never gets the value, and no request passes if it is in a security field.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Backend } from '#api/ir/types.gen.ts'
import { validateConfig } from '#api/ir/validate.ts'
import { applyDefaults, validateObject } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { BACKEND } from '#operator/translate/policy/registry.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import type { Translation } from '#operator/translate/translation.ts'
import { GOLDEN_OPTIONS } from '../../operator/translate/golden-options.testing.ts'
import { goldenFolder, readGolden } from '../golden.ts'
import { fillPem } from '../pem-placeholders.ts'
import { member, type Misfit, misfitsAt, type SettingPath, placesBelow, reports, withValue } from './misfits.ts'

const GOLDENS = join(import.meta.dirname, '..', '..', 'operator', 'translate', 'testdata')
const GATEWAY_API = 'gateway.networking.k8s.io'
const TRANSLATIONS_MS = 300_000
const ADDRESS = { host: 'subject.example', port: 443 }

interface InlinePlace {
  readonly title: string
  readonly spec: (policies: unknown) => object
  readonly place: SettingPath
}

const PLACES: readonly InlinePlace[] = [
  { title: 'a GwBackend', spec: (policies) => ({ static: ADDRESS, policies }), place: ['policies'] },
  { title: 'an ai GwBackend', spec: (policies) => ({ ai: { provider: { p1: {} } }, policies }), place: ['policies'] },
  {
    title: 'an mcp GwBackend',
    spec: (policies) => ({ mcp: { targets: [{ name: 'one', static: ADDRESS }] }, policies }),
    place: ['policies'],
  },
  {
    title: 'a provider',
    spec: (policies) => ({ ai: { groups: [{ providers: [{ name: 'a', p1: {}, policies }] }] } }),
    place: ['ai', 'groups', 0, 'providers', 0, 'policies'],
  },
  {
    title: 'an MCP target',
    spec: (policies) => ({ mcp: { targets: [{ name: 'one', static: { ...ADDRESS, policies } }] } }),
    place: ['mcp', 'targets', 0, 'static', 'policies'],
  },
]

interface Source {
  readonly namespace: string
  /** The backend section of a GwPolicy of a golden. */
  readonly policies: object
  readonly others: readonly KubeObject[]
}

function sources(): Source[] {
  const defaults = readGolden(join(GOLDENS, '_defaults.yaml')).documents as KubeObject[] // by hand, as the goldens
  return goldenFolder(GOLDENS).cases.flatMap(({ inputPath }) => {
    const { options, documents } = readGolden(inputPath, GOLDEN_OPTIONS)
    if (options.get('schema') === 'older' || options.get('defaults') === 'none') return []
    const own = fillPem(documents) as KubeObject[] // the test of the goldens checks them
    const isSame = (a: KubeObject, b: KubeObject): boolean => a.kind === b.kind && a.metadata.name === b.metadata.name
    const others = [...defaults.filter((one) => !own.some((other) => isSame(one, other))), ...own]
    return own.flatMap((one) => {
      const policies = member(member(one, 'spec'), 'backend')
      if (one.kind !== 'GwPolicy' || typeof policies !== 'object' || policies === null) return []
      return [{ namespace: one.metadata.namespace ?? 'default', policies, others: others.filter(isNoPolicy) }]
    })
  })
}

function isNoPolicy({ kind }: KubeObject): boolean {
  return kind !== 'GwPolicy' && kind !== 'BackendTLSPolicy'
}

function subjectOf(spec: object, namespace: string): KubeObject {
  const metadata = { name: 'subject', namespace, generation: 1 }
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', metadata, spec } as KubeObject // as the schema has it
}

function translated(subject: object, { others, namespace }: Source): Translation {
  const route = {
    apiVersion: `${GATEWAY_API}/v1`,
    kind: 'HTTPRoute',
    metadata: { name: 'subject', namespace },
    spec: {
      parentRefs: [{ name: 'edge', namespace: 'infra' }],
      rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'subject' }] }],
    },
  }
  // On purpose a backend of the wrong form.
  const objects = [...others, route as unknown as KubeObject, subject as KubeObject].map((one) => applyDefaults(one))
  return translate(snapshotOf(objects), {
    controllerName: 'gw.dev/controller',
    className: 'gw',
    clusterDomain: 'cluster.local',
    controllerNamespace: 'gw-system',
  })
}

function renderedIn({ perGateway }: Translation, namespace: string): Backend[] {
  const key = `${namespace}/subject`
  return [...perGateway.values()].flatMap(({ config }) =>
    config.backends.filter((one) => one.key === key || one.key.startsWith(`${key}/`)),
  )
}

/** Whether the backend, or its part with the policies, can answer no request. */
function refuses(rendered: readonly Backend[]): boolean {
  return rendered.some(
    ({ invalid, ai, inlinePolicies }) =>
      invalid !== undefined ||
      inlinePolicies?.deny !== undefined ||
      ai?.groups.some(({ providers }) => providers.some(({ provider }) => provider.unsupported !== undefined)),
  )
}

function complaint(
  misfit: Misfit,
  subject: object,
  { source, field }: Pick<Trial, 'source' | 'field'>,
): string | undefined {
  const translation = translated(withValue(subject, ['spec', ...misfit.place], misfit.value), source)
  const reported = translation.problems.filter(({ object, path }) => object.name === 'subject' && reports(path, misfit))
  if (reported.length === 0) return 'silent'
  const unreadable = [...translation.perGateway.values()].flatMap(({ config }) => validateConfig(config))
  if (unreadable.length > 0) return `the proxy gets ${unreadable.map(({ path }) => path).join(', ')}`
  const rendered = renderedIn(translation, source.namespace)
  if (rendered.length === 0) return 'the backend is gone'
  const translator: unknown = Reflect.get(BACKEND, field)
  const mode = (translator as { failureMode?: string } | undefined)?.failureMode // of the registry
  if ((mode === 'deny' || mode === undefined) !== refuses(rendered) && mode !== 'keep') return `refuses: ${mode ?? '-'}`
  return undefined
}

interface Trial {
  readonly misfit: Misfit
  readonly subject: KubeObject
  readonly source: Source
  readonly field: string
}

/** Each setting once. */
function trialsAt({ spec, place }: InlinePlace): Trial[] {
  const seen = new Set<string>()
  const isNew = ({ setting }: { readonly setting: string }): boolean =>
    !seen.has(setting) && seen.add(setting).has(setting)
  const ofField = (source: Source, field: string, value: unknown): Trial[] => {
    const subject = subjectOf(spec({ [field]: value }), source.namespace)
    if (validateObject(subject).problems.length > 0) return []
    const placed = placesBelow(value, [...place, field]).filter(isNew)
    return placed.flatMap((one) => misfitsAt(subject, one).map((misfit) => ({ misfit, subject, source, field })))
  }
  return sources().flatMap((source) =>
    Object.entries(source.policies).flatMap(([field, value]) => ofField(source, field, value)),
  )
}

describe.each(PLACES)('inline policies of $title with a value that the schema rejects', (place) => {
  it('are reported, and reject the traffic of a security field', { tags: ['full'], timeout: TRANSLATIONS_MS }, () => {
    const trials = trialsAt(place)
    const complaints = trials.flatMap(({ misfit, subject, source, field }) => {
      const wrong = complaint(misfit, subject, { source, field })
      return wrong === undefined ? [] : [`${misfit.path} ${JSON.stringify(misfit.value).slice(0, 40)}: ${wrong}`]
    })
    expect(complaints).toEqual([])
    expect(trials.length).toBeGreaterThan(100)
  })
})

describe('a GwBackend with a wrong value outside of its policies', () => {
  const metadata = { name: 'subject', namespace: 'shop' }
  it.each<[string, object, string]>([
    ['port', { static: { host: 'a.example', port: 'x' } }, 'spec.static.port'],
    ['provider', { ai: { provider: { p1: { model: 5 } } } }, 'spec.ai.provider.p1.model'],
    ['target', { mcp: { targets: [{ name: 'a', static: { host: 5, port: 80 } }] } }, 'spec.mcp.targets[0].static.host'],
    ['policies', { static: { host: 'a.example', port: 80 }, policies: 5 }, 'spec.policies'],
  ])('rejects: %s', (_, spec, path) => {
    const [source] = sources()
    if (source === undefined) throw new Error('no golden has a policy of backends')
    const subject = { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', metadata, spec }
    const translation = translated(subject, { ...source, namespace: 'shop' })
    expect(translation.problems.filter(({ object }) => object.name === 'subject')).toEqual([
      expect.objectContaining({ path, severity: 'error', message: expect.stringContaining(path) }),
    ])
    expect(refuses(renderedIn(translation, 'shop'))).toBe(true)
    expect([...translation.perGateway.values()].flatMap(({ config }) => validateConfig(config))).toEqual([])
  })
})
