// Facts from `gw ui`, which relays this page: it adds headers to the responses of the admin server.
import { RELAY_GATEWAYS, RELAY_TARGET } from '#api/admin/relay-headers.ts'

interface Relay {
  /** undefined: the page comes from the admin server directly. */
  target: string | undefined
  gateways: string | undefined
}

const RELAY: Relay = { target: undefined, gateways: undefined }

export function noteRelay(headers: Headers): void {
  RELAY.target = headers.get(RELAY_TARGET) ?? RELAY.target
  RELAY.gateways = headers.get(RELAY_GATEWAYS) ?? RELAY.gateways
}

/** Arguments with which `gw proxy` reaches the proxy of this page. */
export function relayTarget(): string | undefined {
  return RELAY.target
}

/** The web UI of a proxy of the Gateway `namespace/name`; undefined: only a command can open it. */
export function gatewayUiHref(key: string): string | undefined {
  return RELAY.gateways === undefined ? undefined : `../${RELAY.gateways}${key}`
}
