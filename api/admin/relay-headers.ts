// Response headers that `gw ui` adds for the page, which the admin server itself does not send. Constants only.

/** Arguments with which `gw proxy` reaches the same proxy, such as `gateway/web -n shop`. */
export const RELAY_TARGET = 'gw-relay-target'

/** The path, relative to `/`, below which `namespace/name` opens the web UI of a proxy of this Gateway. */
export const RELAY_GATEWAYS = 'gw-relay-gateways'
