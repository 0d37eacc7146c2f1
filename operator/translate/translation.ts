// Input and output of translation. Types only.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { ObjectStatus } from './object-status.ts'
import type { GatewayCaps } from './caps.ts'
import type { ObjectRef } from './object-ref.ts'

export interface TranslateSettings {
  /** GatewayClasses of this controller are ours; written into every status entry. */
  readonly controllerName: string
  /** The class the operator itself created; only its status lists the supported features. */
  readonly className: string
  /** Suffix of Service host names, e.g. `cluster.local`. */
  readonly clusterDomain: string
  /** Where the control plane stores fetched key sets. Unset: no store; tokens that need a set fail. */
  readonly controllerNamespace?: string
  /** Which references to backends of other namespaces need a ReferenceGrant. Certificates always do. */
  readonly backendRefGrantMode?: BackendRefGrantMode
  /** Host names that only some namespaces may serve. Unset: none. */
  readonly hostBindings?: readonly HostBinding[]
  /** True: a Service without EndpointSlices has no endpoints, as in a cluster. Unset: its endpoints are unknown. */
  readonly areEndpointsComplete?: boolean
  /** False: listeners accept no GwModels, even if they list the kind. Unset: they accept them if they list the kind. */
  readonly areModelsEnabled?: boolean
  /** False: InferencePools are not read, and references to them are invalid. Unset: they are. */
  readonly areInferencePoolsEnabled?: boolean
  /** Unset: DEFAULT_CAPS. */
  readonly caps?: GatewayCaps
}

/** A host name, or `*.suffix`, and the namespaces whose routes and ListenerSets may serve it. */
export interface HostBinding {
  readonly host: string
  readonly namespaces: readonly string[]
}

/**
 * `route-and-policy` (also when unset): all of them; `route`: those of routes, but not those of policies and backends;
 * `none`: none. References to objects with credentials need a grant in every mode.
 */
export type BackendRefGrantMode = 'route-and-policy' | 'route' | 'none'

export interface RenderedGateway {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

export type ObjectProblem = Problem & { readonly object: ObjectRef }

export interface Translation {
  /** By `namespace/name` of the Gateway. Every Gateway of our classes has an entry. */
  readonly perGateway: ReadonlyMap<string, RenderedGateway>
  /** Without lastTransitionTime, which the writer adds. Ordered by kind, namespace, name. */
  readonly statuses: readonly ObjectStatus[]
  readonly problems: readonly ObjectProblem[]
}
