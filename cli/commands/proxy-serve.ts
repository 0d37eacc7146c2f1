// gw proxy serve: flags and help. The command itself is in cli/serve, loaded when it runs.
import type { Command } from 'commander'
import type { ServeFlags } from '../serve/proxy.ts'

const HELP = `
Runs in the pods that the operator creates for a Gateway. Environment variables name the Gateway (NAMESPACE, GATEWAY)
and the pod (POD_NAME). The proxy starts with the mounted configuration, then watches the API server for changes.

Example:
  # The command of the container of a pod
  gw proxy serve -f /config/config.yaml`

export function addProxyServe(program: Command, finish: (code: number) => void): void {
  const group = program.commands.find((command) => command.name() === 'proxy') ?? program.command('proxy')
  group
    .command('serve')
    .description('Run the proxy of a Gateway inside a cluster')
    .option('-f, --file <path>', 'Bootstrap file: settings of the process and rawConfig')
    .option('--mount <folder>', 'Folder where the delivery of the operator is mounted; default /etc/gw/delivery')
    .option('--listen-address <address>', 'Address that listeners bind to; default all addresses')
    .addHelpText('after', HELP)
    .action(async (flags: ServeFlags) => {
      const { proxyServeCommand } = await import('../serve/proxy.ts')
      finish(await proxyServeCommand(flags))
    })
}
