// The file with the token of a proxy's admin server, if it requires one: the proxy writes it, `gw proxy` reads it.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `port`: of the admin server. */
export function adminTokenFile(port: number): string {
  return join(tmpdir(), `gw-admin-${port}.token`)
}

/** Environment variable with the token for `gw proxy` in place of the file, for example with a forwarded port. */
export const ADMIN_TOKEN_VARIABLE = 'GW_ADMIN_TOKEN'
