// gw proxy token: flags and help. The command itself is in cli/proxy, loaded when it runs.
import type { Command } from 'commander'
import { proxyGroup } from './proxy-group.ts'

const HELP = `
The admin server of a proxy in a cluster requires a token. The token changes at each start.
gw proxy --local reads the token of a proxy on this machine from its file. For a forwarded port, set GW_ADMIN_TOKEN.

Example:
  # Use the token of a proxy in a cluster
  export GW_ADMIN_TOKEN=$(kubectl exec -n shop pod/web-1 -- /usr/local/bin/node /app/gw.js proxy token)`

export function addProxyToken(program: Command, finish: (code: number) => void): void {
  proxyGroup(program)
    .command('token')
    .description('Print the token of the admin server of a proxy on this machine')
    .option('--admin-addr <host:port>', 'Address of its admin server', 'localhost:15000')
    .addHelpText('after', HELP)
    .action(async (flags: { adminAddr: string }) => {
      const { tokenCommand } = await import('../proxy/token.ts')
      finish(await tokenCommand(flags))
    })
}
