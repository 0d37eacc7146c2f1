// Whether a backend, Service, pool or route uses credentials of Secrets or of its own text when a Gateway calls it, or
// leads to another one that does. Reads objects as they are written, before translation, so that the result does not
// depend on which references are permitted. In doubt the result is yes.
import { isRecord } from '#api/json.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { BringsCredentials, CrossReference } from './grants.ts'
import { CORE_GROUP, GATEWAY_GROUP, GW_GROUP, INFERENCE_GROUP } from './groups.ts'
import type { Defects } from './defects.ts'
import type { KubeObject } from './kube.ts'
import { matchesLabels, matchesSelector } from './labels.ts'
import { derived } from './memory.ts'
import { namespaceLabels } from './namespace-labels.ts'
import { namespaceOf } from './object-ref.ts'
import type { Snapshot } from './snapshot.ts'

type Target = CrossReference['to']

/** Fields that hold a credential or name the Secret with it. A test compares them with the schema. */
export const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set([
  'apiKeyAuthentication',
  'basicAuthentication',
  'certificateRef',
  'clientSecretRef',
  'mtlsCertificateRef',
  'secretRef',
  'secretSelector',
  'signingKeyRef',
])

/** Of `auth`: everything else is a credential, or the identity of a workload. */
const HARMLESS_AUTH: ReadonlySet<string> = new Set(['passthrough', 'location'])

const KINDS = {
  [`${CORE_GROUP}/Service`]: 'Service',
  [`${GW_GROUP}/GwBackend`]: 'GwBackend',
  [`${INFERENCE_GROUP}/InferencePool`]: 'InferencePool',
  [`${GATEWAY_GROUP}/HTTPRoute`]: 'HTTPRoute',
} as const

/** Kinds of objects that decide: the result may change with any of them. */
export const CREDENTIAL_SOURCES = ['GwPolicy', 'Namespace', ...Object.values(KINDS)] as const

/** `now`: the snapshot of the moment. */
export function credentialFinder(now: () => Snapshot, defects: Defects): BringsCredentials {
  const indexOf = derived(policyIndex)
  const find: BringsCredentials = ({ from, to }) => {
    const snapshot = now()
    const policiesOf = indexOf(snapshot.GwPolicy.all)
    const seen = new Set<string>()
    const pending = [to]
    for (let target = pending.pop(); target !== undefined; target = pending.pop()) {
      const key = `${target.group}/${target.kind}/${target.namespace}/${target.name}`
      // A credential in the referring object itself is not a foreign one.
      if (seen.has(key) || target.namespace === from.namespace) continue
      seen.add(key)
      for (const object of objectsOf(target, snapshot)) {
        for (const { spec } of [object, ...policiesOf(object)]) {
          const { hasCredentials, references } = contentOf(spec)
          if (hasCredentials) return true
          for (const reference of references) pending.push(targetOf(reference, target.namespace))
        }
        pending.push(...selectedServices(target, snapshot))
      }
    }
    return false
  }
  return (reference) => {
    try {
      return find(reference)
    } catch (error) {
      const { kind, namespace, name } = reference.to
      defects.note(error, { apiVersion: reference.to.group, kind, namespace, name }, 'spec')
      // Then a grant is required.
      return true
    }
  }
}

/** Objects with a spec. */
type Specified = Pick<KubeObject, 'metadata'> & { readonly spec?: unknown }

interface Content {
  readonly hasCredentials: boolean
  readonly references: ReadonlyArray<Readonly<Record<string, unknown>>>
}

function contentOf(spec: unknown): Content {
  const references: Array<Record<string, unknown>> = []
  const pending: unknown[] = [spec]
  while (pending.length > 0) {
    const value = pending.pop()
    if (Array.isArray(value)) pending.push(...value)
    else if (isRecord(value)) {
      for (const [name, part] of Object.entries(value)) {
        if (part === undefined || part === null) continue
        if (CREDENTIAL_FIELDS.has(name) || (name === 'auth' && isCredential(part))) {
          return { hasCredentials: true, references: [] }
        }
        if (REFERENCE_FIELDS.has(name)) references.push(...[part].flat().filter(isRecord))
        pending.push(part)
      }
    }
  }
  return { hasCredentials: false, references }
}

const REFERENCE_FIELDS: ReadonlySet<string> = new Set(['backendRef', 'backendRefs', 'endpointPickerRef'])

function isCredential(auth: unknown): boolean {
  return !isRecord(auth) || Object.keys(auth).some((name) => !HARMLESS_AUTH.has(name))
}

function targetOf(reference: Readonly<Record<string, unknown>>, ownNamespace: string): Target {
  const text = (name: string, unset: string): string => {
    const value = reference[name]
    return typeof value === 'string' && value !== '' ? value : unset
  }
  return {
    group: text('group', CORE_GROUP),
    kind: text('kind', 'Service'),
    namespace: text('namespace', ownNamespace),
    name: text('name', ''),
  }
}

/** A route may be named by a pattern or a label: then every route of the namespace may be meant. */
function objectsOf({ group, kind, namespace, name }: Target, snapshot: Snapshot): readonly Specified[] {
  const key = `${group}/${kind}`
  if (!Object.hasOwn(KINDS, key)) return []
  // hasOwn above makes it a key of the table.
  const known = KINDS[key as keyof typeof KINDS]
  const object = snapshot[known].get(namespace, name)
  if (object !== undefined) return [object]
  return known === 'HTTPRoute' ? snapshot.HTTPRoute.all.filter((route) => namespaceOf(route) === namespace) : []
}

/** Services of any namespace, as the selectors of an MCP backend find them. */
function selectedServices({ kind, namespace: own, name }: Target, snapshot: Snapshot): Target[] {
  const targets = kind === 'GwBackend' ? (snapshot.GwBackend.get(own, name)?.spec.mcp?.targets ?? []) : []
  const selectors = targets.flatMap(({ selector }) => selector ?? [])
  if (selectors.length === 0) return []
  return snapshot.Service.all.flatMap((service) => {
    const namespace = namespaceOf(service)
    const isSelected = selectors.some(
      ({ namespaces, services }) =>
        (namespaces === undefined
          ? namespace === own
          : matchesSelector(namespaces, namespaceLabels(snapshot, namespace))) &&
        matchesSelector(services ?? {}, service.metadata.labels),
    )
    return isSelected ? [{ group: CORE_GROUP, kind: 'Service', namespace, name: service.metadata.name }] : []
  })
}

type PoliciesOf = (object: Specified & { readonly kind?: string }) => readonly GwPolicy[]

/** Policies of its namespace that target the object, by name or by label, whichever part of it they name. */
function policyIndex(policies: readonly GwPolicy[]): PoliciesOf {
  const named = new Map<string, GwPolicy[]>()
  const selecting = new Map<string, GwPolicy[]>()
  const add = (index: Map<string, GwPolicy[]>, key: string, policy: GwPolicy): void => {
    const known = index.get(key)
    if (known === undefined) index.set(key, [policy])
    else known.push(policy)
  }
  for (const policy of policies) {
    const { targetRefs = [], targetSelectors = [] } = policy.spec
    const namespace = namespaceOf(policy)
    for (const { kind, name } of targetRefs) add(named, `${kind}/${namespace}/${name}`, policy)
    for (const { kind } of targetSelectors) add(selecting, `${kind}/${namespace}`, policy)
  }
  return (object) => {
    const { kind = '', metadata } = object
    const bySelector = selecting.get(`${kind}/${metadata.namespace ?? ''}`) ?? []
    return [
      ...(named.get(`${kind}/${metadata.namespace ?? ''}/${metadata.name}`) ?? []),
      ...bySelector.filter(({ spec: { targetSelectors = [] } }) =>
        targetSelectors.some((one) => one.kind === kind && matchesLabels(one.matchLabels, metadata.labels)),
      ),
    ]
  }
}
