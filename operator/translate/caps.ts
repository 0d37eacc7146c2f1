// Limits of one Gateway, so that one tenant cannot make the controller and the proxies slow for all. Objects above a
// limit are left out, and their status names the setting; namespaces share the limit fairly (fair-share.ts).

export interface GatewayCaps {
  /** Listeners, those of ListenerSets included. */
  readonly listenersMax: number
  /** Rules of routes, each counted once for each listener that accepts it; models likewise. */
  readonly routeRulesMax: number
  /** Targets of policies: a policy that selects 900 routes counts 900 times. */
  readonly policyTargetsMax: number
}

export const DEFAULT_CAPS: GatewayCaps = { listenersMax: 5000, routeRulesMax: 100_000, policyTargetsMax: 50_000 }

/** Settings of the controller, as messages name them. */
export const CAP_SETTINGS: { readonly [C in keyof GatewayCaps]: string } = {
  listenersMax: 'GW_GATEWAY_LISTENERS_MAX',
  routeRulesMax: 'GW_GATEWAY_ROUTE_RULES_MAX',
  policyTargetsMax: 'GW_GATEWAY_POLICY_TARGETS_MAX',
}

const WHAT: { readonly [C in keyof GatewayCaps]: string } = {
  listenersMax: 'listeners',
  routeRulesMax: 'route rules (each counts once for each listener)',
  policyTargetsMax: 'policy targets',
}

/** The same text as long as the cap is the same: statuses are not written again when other objects change. */
export function capMessage(cap: keyof GatewayCaps, caps: GatewayCaps, gateway: string): string {
  return (
    `Gateway ${gateway} holds at most ${caps[cap]} ${WHAT[cap]}, shared fairly by namespaces, and the share of this ` +
    `namespace is used up by older objects; remove some, use another Gateway, or raise ${CAP_SETTINGS[cap]} of the controller`
  )
}
