// The results of all stages, from which statuses and problems are derived. Types only.
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { BackendTranslation } from '../backend/backend.ts'
import type { AddressesOf } from '../gateway/addresses.ts'
import type { OurGateways } from '../gateway/gateways.ts'
import type { AttachedModel } from '../model/models.ts'
import type { PoolAtGateways } from '../inference/pools.ts'
import type { BackendTlsTranslation } from '../policy/backend-tls-policy.ts'
import type { PolicyTranslation } from '../policy/attached-policies.ts'
import type { AttachedRoute } from '../route/routes.ts'
import type { Snapshot } from '../snapshot.ts'
import type { TranslateSettings } from '../translation.ts'

export interface StageResults {
  readonly snapshot: Snapshot
  readonly settings: TranslateSettings
  readonly gateways: OurGateways
  readonly routes: readonly AttachedRoute[]
  readonly backends: ReadonlyMap<string, BackendTranslation>
  readonly models: readonly AttachedModel[]
  readonly policies: readonly PolicyTranslation[]
  readonly backendTls: readonly BackendTlsTranslation[]
  readonly pools: readonly PoolAtGateways[]
  readonly addressesOf: AddressesOf
  /** Requests that a ListenerSet takes from others, and others from it; empty: nothing. */
  readonly sharedHostsOf: (set: ListenerSet) => string
}
