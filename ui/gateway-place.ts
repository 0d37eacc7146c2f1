// The Gateway that the pages of a controller show: in the query of the URL, so that the part after `#` is the same as
// in the web UI of a proxy.
import { hrefOf } from './place.ts'

/** `namespace/name`; empty: none. */
export function gatewayOfUrl(): string {
  return new URLSearchParams(location.search).get('gateway') ?? ''
}

/** A page about this Gateway; empty: its summary. */
export function gatewayHref(key: string, page = ''): string {
  return `?${new URLSearchParams({ gateway: key }).toString()}${hrefOf(page)}`
}

export const CLUSTER_HREF = './'
