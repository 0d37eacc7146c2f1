// The current cluster, behind lookups that stay the same objects from one translation to the next, so that a result can
// be kept with the values that its computation has read.
import { DEFAULT_CAPS } from '../caps.ts'
import { changesBetween } from '../changes.ts'
import type { ListenerScope } from '../gateway/listener.ts'
import { CREDENTIAL_SOURCES, credentialFinder } from '../brought-credentials.ts'
import { type BringsCredentials, grantChecker, type IsPermitted, referenceRules } from '../grants.ts'
import { forbiddenHosts } from '../host-bindings.ts'
import { Defects } from '../defects.ts'
import type { KubeObject } from '../kube.ts'
import { derived, type Memory } from '../memory.ts'
import { poolLookup } from '../service/pool-lookup.ts'
import { keyOf, nameKey, partsOfKey } from '../object-ref.ts'
import { matchesSelector } from '../labels.ts'
import { namespaceLabels } from '../namespace-labels.ts'
import type { PolicyScope } from '../policy/scope.ts'
import { storedKeySets } from '../policy/stored-key-sets.ts'
import type { Source } from '../readers.ts'
import type { ReferenceScope } from '../service/reference.ts'
import { serviceLookup } from '../service/services.ts'
import type { SnapshotKind } from '../snapshot-kinds.ts'
import { type ObjectIndex, type Snapshot, SNAPSHOT_KINDS, snapshotOf } from '../snapshot.ts'
import type { TranslateSettings } from '../translation.ts'

export interface ClusterLookups {
  /** For Gateways: certificates of other namespaces always need a grant. */
  readonly gateways: ListenerScope
  /** For routes. */
  readonly references: ReferenceScope
  /** For policies and backends. */
  readonly scope: PolicyScope
  readonly defects: Defects
  /** From now on lookups read this snapshot. */
  enter(snapshot: Snapshot): void
}

export function clusterLookups(memory: Memory, settings: TranslateSettings): ClusterLookups {
  let now = snapshotOf([])
  const sources = sourcesOf(memory)
  const snapshot = trackedSnapshot(() => now, { memory, sources })
  const checker = derived(grantChecker)
  const keySets = derived((configMaps: Snapshot['ConfigMap']) =>
    storedKeySets(configMaps, settings.controllerNamespace),
  )
  const isGranted: IsPermitted = (reference) =>
    reference.from.namespace === reference.to.namespace ||
    memory.read(sources.ReferenceGrant, () => checker(now.ReferenceGrant.all)(reference))
  const defects = new Defects()
  const finder = credentialFinder(() => now, defects)
  const bringsCredentials: BringsCredentials = (reference) => {
    const look = (): boolean => finder(reference)
    // Each object that decides may change the result.
    for (const kind of CREDENTIAL_SOURCES) memory.read(sources[kind], look)
    return look()
  }
  const { backendRefGrantMode, clusterDomain } = settings
  const rules = referenceRules(backendRefGrantMode, { isGranted, bringsCredentials })
  const services = serviceLookup(snapshot, clusterDomain)
  const pools = settings.areInferencePoolsEnabled === false ? undefined : poolLookup(snapshot, clusterDomain)
  return {
    gateways: {
      snapshot,
      isPermitted: isGranted,
      areModelsEnabled: settings.areModelsEnabled !== false,
      caps: settings.caps ?? DEFAULT_CAPS,
      forbiddenHost: forbiddenHosts(settings.hostBindings ?? []),
      namespacesOf: (selector) => {
        const isSelected = (key: string): boolean => matchesSelector(selector, namespaceLabels(now, partsOfKey(key)[1]))
        return (namespace) => memory.read(sources.Namespace, isSelected, nameKey('', namespace))
      },
    },
    references: { snapshot, services, pools, refusalOf: rules.ofRoutes },
    scope: {
      references: { snapshot, services, pools, refusalOf: rules.ofPolicies },
      keySets: (url) => memory.read(sources.ConfigMap, () => keySets(now.ConfigMap)(url)),
      defects,
    },
    defects,
    enter: (next) => {
      for (const kind of SNAPSHOT_KINDS) {
        if (now[kind] !== next[kind]) memory.changed(sources[kind], changedKeys(now[kind].all, next[kind].all))
      }
      now = next
    },
  }
}

/** undefined: too many to name. */
function changedKeys(before: readonly KubeObject[], now: readonly KubeObject[]): string[] | undefined {
  return changesBetween(before, now)?.flatMap(({ removed, added }) => [...removed, ...added].map(keyOf))
}

/** Of each kind, all objects. */
type Sources = Readonly<Record<SnapshotKind, Source>>

function sourcesOf(memory: Memory): Sources {
  // The list has every kind.
  return Object.fromEntries(SNAPSHOT_KINDS.map((kind) => [kind, memory.source()])) as Sources
}

interface Tracking {
  readonly memory: Memory
  readonly sources: Sources
}

function trackedSnapshot(now: () => Snapshot, { memory, sources }: Tracking): Snapshot {
  const indexOf = (kind: SnapshotKind): ObjectIndex<unknown> => {
    const source = sources[kind]
    const all = (): readonly unknown[] => now()[kind].all
    const byKey = (key: string): unknown => now()[kind].get(...partsOfKey(key))
    return {
      get all() {
        return memory.read(source, all)
      },
      get: (namespace, name) => memory.read(source, byKey, nameKey(namespace, name)),
    }
  }
  const indexes = SNAPSHOT_KINDS.map((kind) => [kind, indexOf(kind)] as const)
  const parts = {
    get ignored() {
      return now().ignored
    },
    get malformed() {
      return now().malformed
    },
  }
  // Every kind is in the list, and each index answers from the one of its kind.
  return Object.assign(parts, Object.fromEntries(indexes)) as unknown as Snapshot
}
