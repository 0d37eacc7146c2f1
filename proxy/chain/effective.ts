// The policies of all places as they are in force for one rule, backend or listener. Made by policy/merge*.ts. No code.
import type { Authorization, BackendPayload, Deny, FrontendPayload, TrafficPayload } from '#api/ir/types.gen.ts'

/** A value and the key of the policy (or route) it comes from: rate limits are counted by it. */
export interface Sourced<T> {
  readonly value: T
  readonly source: string
}

/** Traffic fields whose values of all places are in force together. Of the others the most specific one is. */
export type GatheredTraffic = 'authorization' | 'deny'

export type EffectiveTraffic = {
  readonly [K in Exclude<keyof TrafficPayload, GatheredTraffic>]?: Sourced<NonNullable<TrafficPayload[K]>>
} & {
  /** Rules of all places; evaluated together. */
  readonly authorization: readonly Sourced<Authorization>[]
  /** Any entry refuses every request. */
  readonly deny: readonly Sourced<Deny>[]
}

export interface EffectiveTrafficPhases {
  readonly preRouting: EffectiveTraffic
  readonly postRouting: EffectiveTraffic
}

export type GatheredBackend = 'mcpAuthorization'

export type EffectiveBackend = Readonly<Omit<BackendPayload, GatheredBackend>> & {
  readonly mcpAuthorization: readonly Authorization[]
}

export type GatheredFrontend = 'networkAuthorization'

export type EffectiveFrontend = Readonly<Omit<FrontendPayload, GatheredFrontend>> & {
  /** Of all places; absent when there are none. */
  readonly networkAuthorization?: readonly Authorization[]
}
