// How to open the web UI of a proxy of a Gateway: a link if `gw ui` relays this page, and else the command.
import { targetOf } from '../controller-api.ts'
import { gatewayUiHref } from '../relay.ts'

/** `gateway`: `namespace/name`. */
export function ProxyUi({ gateway }: { readonly gateway: string }) {
  const href = gatewayUiHref(gateway)
  if (href === undefined) return <code>{`gw ui ${targetOf(gateway)}`}</code>
  return (
    <a href={href} target="_blank" rel="noopener" aria-label={`Open the web UI of a proxy of ${gateway}`}>
      open
    </a>
  )
}
