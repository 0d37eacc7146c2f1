// The token that `gw proxy` sends to an admin server: from the environment, or from the file that a proxy on this
// machine, or in this container, wrote. A missing token is not an error: `gw run` requires no token.
import { readFile } from 'node:fs/promises'
import { ADMIN_TOKEN_VARIABLE, adminTokenFile } from '#api/admin/token-file.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

/** @throws {Error} if the file exists but cannot be read */
export async function localToken(
  { host, port }: Address,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const given = environment[ADMIN_TOKEN_VARIABLE]?.trim()
  if (given !== undefined && given !== '') return given
  // Never send the token of a proxy on this machine to a server on another machine.
  if (!LOOPBACK.has(host)) return undefined
  try {
    return (await readFile(adminTokenFile(port), 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
