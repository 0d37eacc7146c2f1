// The merged policies of all places for one rule, backend or listener. Created by policy/merge*.ts. No code.
import type { Authorization, BackendPayload, Deny, FrontendPayload, TrafficPayload } from '#api/ir/types.gen.ts'

/** A value and the key of its policy (or route): rate limits are counted by this key. */
export interface Sourced<T> {
  readonly value: T
  readonly source: string
}

/** Traffic fields whose values of all places apply together. Of other fields, only the most specific value applies. */
export type GatheredTraffic = 'authorization' | 'deny'

export type EffectiveTraffic = {
  readonly [K in Exclude<keyof TrafficPayload, GatheredTraffic>]?: Sourced<NonNullable<TrafficPayload[K]>>
} & {
  /** Rules of all places; evaluated together. */
  readonly authorization: readonly Sourced<Authorization>[]
  /** Any entry rejects all requests. */
  readonly deny: readonly Sourced<Deny>[]
}

export interface EffectiveTrafficPhases {
  readonly preRouting: EffectiveTraffic
  readonly postRouting: EffectiveTraffic
}

export type GatheredBackend = 'authorization' | 'mcpAuthorization'

export type EffectiveBackend = Readonly<Omit<BackendPayload, GatheredBackend>> & {
  readonly mcpAuthorization: readonly Authorization[]
  /** The rules of each place that has rules; evaluated together. */
  readonly authorization?: readonly (readonly Authorization[])[]
}

export type GatheredFrontend = 'networkAuthorization'

export type EffectiveFrontend = Readonly<Omit<FrontendPayload, GatheredFrontend>> & {
  /** Values of all places; absent if there are no values. */
  readonly networkAuthorization?: readonly Authorization[]
}
