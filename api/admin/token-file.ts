// Where a proxy that wants a token at its admin server leaves it: the proxy writes the file, `gw proxy` reads it.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `port`: of the admin server. */
export function adminTokenFile(port: number): string {
  return join(tmpdir(), `gw-admin-${port}.token`)
}

/** Holds the token for `gw proxy` in place of the file, as with a forwarded port. */
export const ADMIN_TOKEN_VARIABLE = 'GW_ADMIN_TOKEN'
