// gw proxy serve: flags and help. What it does is in cli/serve, loaded when it runs.
import type { Command } from 'commander'
import type { ServeFlags } from '../serve/proxy.ts'

const HELP = `
Runs in the pods that the operator makes for a Gateway. The environment names the Gateway (NAMESPACE, GATEWAY) and this
pod (POD_NAME). It starts from the mounted configuration and follows the API server from there.

Example:
  # As the container of a pod does
  gw proxy serve -f /config/config.yaml`

export function addProxyServe(program: Command, finish: (code: number) => void): void {
  const group = program.commands.find((command) => command.name() === 'proxy') ?? program.command('proxy')
  group
    .command('serve')
    .description('Run the proxy of a Gateway inside a cluster')
    .option('-f, --file <path>', 'Bootstrap file: settings of the process, and rawConfig')
    .option('--mount <folder>', 'Where the delivery of the operator is mounted; when unset /etc/gw/delivery')
    .option('--listen-address <address>', 'Address that listeners bind to; when unset all addresses')
    .addHelpText('after', HELP)
    .action(async (flags: ServeFlags) => {
      const { proxyServeCommand } = await import('../serve/proxy.ts')
      finish(await proxyServeCommand(flags))
    })
}
