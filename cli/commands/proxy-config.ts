// gw proxy config: flags and help. The command itself is in cli/proxy, loaded when it runs.
import { Option, type Command } from 'commander'
import { addTargetFlags, proxyGroup, RESOURCE_HELP } from './proxy-group.ts'
import type { ConfigFlags, ConfigPart } from '../proxy/config.ts'

const HELP = `
Examples:
  # Active listeners, routes, backends and policies of a Gateway in a cluster
  gw proxy config all gateway/web -n shop
  # Health, requests and latency of every endpoint, as one pod sees them
  gw proxy config backends pod/web-7d9f -n shop --all
  # Routes of all Gateways of the cluster
  gw proxy config routes -A
  # Endpoints again whenever a figure changes
  gw proxy config backends gateway/web -n shop --watch
  # Rate limits of a Gateway: what is left, and how many requests they rejected
  gw proxy config limits gateway/web -n shop
  # The complete configuration of a proxy on this machine as YAML
  gw proxy config all --local -o yaml
  # Read a saved dump
  gw proxy config all --local -o json > dump.json
  gw proxy config backends --file dump.json`

export function addProxyConfig(program: Command, finish: (code: number) => void): void {
  const config = proxyGroup(program)
    .command('config')
    .aliases(['c', 'cfg'])
    .description('Print the active configuration of a proxy')
    .addHelpText('after', HELP)
  const add = (part: ConfigPart, description: string): Command =>
    addSource(config.command(part).description(description)).action(
      async (resource: string | undefined, flags: ConfigFlags) => {
        const { configCommand } = await import('../proxy/config.ts')
        finish(await configCommand(part, { resource, flags }))
      },
    )
  add('all', 'Print the whole configuration; as tables, a summary')
  add('backends', 'Print endpoints with their health and usage')
    .aliases(['b', 'be'])
    .option('--all', 'Include endpoints that have received no request')
  add('routes', 'Print routes with their listeners and backends').aliases(['r', 'route'])
  add('policies', 'Print policies with their fields and targets').aliases(['p', 'policy'])
  add('limits', 'Print rate limits with what is left').aliases(['l', 'limit'])
}

function addSource(command: Command): Command {
  return addTargetFlags(command.argument('[resource]', RESOURCE_HELP))
    .option('-f, --file <path>', 'Read a saved dump instead of a running proxy; - is standard input')
    .addOption(
      new Option('-o, --output <format>', 'Output format; wide has more columns, short is the same as table')
        .choices(['table', 'short', 'wide', 'name', 'json', 'yaml'])
        .default('table'),
    )
    .option('-w, --watch', 'Print again after each change, until you press Ctrl-C')
}
