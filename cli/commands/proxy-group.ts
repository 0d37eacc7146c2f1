// gw proxy: the group of commands that inspect a running proxy, and their common flags.
import { InvalidArgumentError, type Command } from 'commander'

const PORT_MAX = 65_535

export function proxyGroup(program: Command): Command {
  const known = program.commands.find((command) => command.name() === 'proxy')
  return known ?? program.command('proxy').description('Inspect a running proxy')
}

/** The flags of kubectl that choose a cluster and its user. */
export function addClusterFlags(command: Command): Command {
  return command
    .option('-k, --kubeconfig <path>', 'Kubeconfig file; default KUBECONFIG, else ~/.kube/config')
    .option('--context <name>', 'Context of the kubeconfig; default its current context')
}

export function addTargetFlags(command: Command): Command {
  return addClusterFlags(
    command
      .option('-n, --namespace <name>', 'Namespace of the resource; default that of the context')
      .option('-A, --all-namespaces', 'The proxies of all Gateways in all namespaces'),
  )
    .option('--proxy-admin-port <number>', 'Port of the admin server in the pod; default 15000', portNumber)
    .option('--local', 'Connect to a proxy on this machine')
    .option('--admin-addr <host:port>', 'With --local: address of its admin server', 'localhost:15000')
}

/** The argument of commands whose target is `addTargetFlags`. */
export const RESOURCE_HELP =
  'gateway/NAME, service/NAME, deployment/NAME or a pod; default the only Gateway of the namespace'

export function portNumber(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > PORT_MAX) {
    throw new InvalidArgumentError(`It must be an integer from 1 to ${PORT_MAX}.`)
  }
  return value
}
