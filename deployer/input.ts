// What the deployer takes and gives. Types, and the words of one of them.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { KubeObject, ObjectRef } from './kube-object.ts'

export interface DeployInput {
  readonly gateway: Gateway
  readonly gatewayClass: GatewayClass
  /** Of the class and of the Gateway; parameters/references.ts finds them. */
  readonly classParameters?: GwParameters | undefined
  readonly gatewayParameters?: GwParameters | undefined
  /** Listener ports of the Gateway and its accepted ListenerSets, without internal ones; in any order. */
  readonly ports: readonly number[]
  /** Listeners of its accepted ListenerSets that need the certificate of a mesh. */
  readonly meshListeners: readonly SetListener[]
  readonly settings: DeploySettings
  readonly sessionKey: SessionKeyFact
}

export interface SetListener {
  readonly set: { readonly namespace: string; readonly name: string }
  readonly listener: string
}

export interface DeploySettings {
  /** Becomes the label `app.kubernetes.io/version`. */
  readonly version: string
  /** Where parameters name no image. */
  readonly image: { readonly registry: string; readonly repository: string; readonly tag: string }
  /** Port of the Service of a Gateway without ports; 0: such a Gateway cannot be deployed. */
  readonly dummyPort: number
  /** Further variables of every proxy, such as DNS_LOOKUP_FAMILY or IPV6_ENABLED. */
  readonly environment: Readonly<Record<string, string>>
  readonly mesh: MeshSettings
  readonly restrictions: GatewayRestrictions
}

/** What the administrator lets the author of a Gateway ask of its deployment. The GatewayClass may ask anything. */
export interface GatewayRestrictions {
  /** `Refuse`: a Gateway cannot have parameters of its own. */
  readonly parameters: (typeof PARAMETERS_MODES)[number]
  /** Fields that parameters of a Gateway may set, with everything below them; see restrictions/field-path.ts. */
  readonly allowedFields: readonly string[]
  /** Fields of which a Gateway cannot change what the parameters of its class set. */
  readonly enforcedFields: readonly string[]
  /** Of keys of labels and annotations that a Gateway cannot set, in `spec.infrastructure` and in its parameters. */
  readonly deniedKeyPrefixes: readonly string[]
}

export const PARAMETERS_MODES = ['Allow', 'Refuse'] as const

/** They fill in what parameters leave open; only `autoEnabled` turns the mesh on. */
export interface MeshSettings {
  readonly autoEnabled: boolean
  /** From the mesh's own configuration of the revision in use. */
  readonly trustDomain?: string | undefined
  readonly caAddress?: string | undefined
  readonly clusterId?: string | undefined
  readonly network?: string | undefined
}

/**
 * The Secret `{safeName}-session-key` as it is in the cluster. It is made once and then kept for ever: an absent one is
 * created with the key the caller drew, a present one is never written.
 */
export type SessionKeyFact =
  /** Objects are only shown, without a cluster: neither the Secret nor its checksum are rendered. */
  | { readonly state: 'unknown' }
  | {
      readonly state: 'present'
      /** Of the data key `key`, decoded. undefined: it has none. */ readonly key: string | undefined
    }
  | { readonly state: 'absent'; /** 32 random bytes as 64 hexadecimal digits. */ readonly newKey: string }

export interface DeployProblem extends Problem {
  readonly reason: DeployReason
  /** Whose field `path` is. */
  readonly object: ObjectRef
}

/** What a reason means for the Gateway: status/ maps it to conditions. */
export type DeployReason =
  | 'InvalidParameters'
  | 'UnsupportedAddress'
  | 'NoValidPorts'
  | 'InvalidSessionKey'
  | 'InvalidInfrastructure'
  | 'MeshNotEnabled'
  | 'ModelCatalogNotFound'

export interface DeployResult {
  /** In the order they are to be applied. Empty as soon as one problem is an error: nothing is deployed by half. */
  readonly objects: readonly KubeObject[]
  readonly problems: readonly DeployProblem[]
}
