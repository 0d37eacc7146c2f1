// gw proxy token: prints the token of the admin server of a proxy on this machine, or in this container.
import { adminTokenFile } from '#api/admin/token-file.ts'
import { localToken } from '../portforward/admin-token.ts'
import { addressOf } from '../portforward/local-transport.ts'

/** Resolves to the exit code. */
export async function tokenCommand({ adminAddr }: { readonly adminAddr: string }): Promise<number> {
  const address = addressOf(adminAddr)
  if (address === undefined) return failed(`--admin-addr ${adminAddr}: must be host:port`)
  const file = adminTokenFile(address.port)
  try {
    const token = await localToken(address)
    if (token === undefined)
      return failed(`${file} does not exist: no proxy on this machine requires a token on port ${address.port}`)
    console.log(token)
    return 0
  } catch (error) {
    return failed(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function failed(problem: string): number {
  console.error(problem)
  return 1
}
