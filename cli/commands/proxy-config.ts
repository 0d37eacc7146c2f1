// gw proxy config: flags and help. The command itself is in cli/proxy, loaded when it runs.
import { Option, type Command } from 'commander'
import { addTargetFlags, proxyGroup } from './proxy-group.ts'
import type { ConfigFlags } from '../proxy/config.ts'

const HELP = `
Examples:
  # Active listeners, routes, backends and policies
  gw proxy config all --local
  # The complete configuration as YAML
  gw proxy config all --local -o yaml
  # Health, requests and latency of every endpoint
  gw proxy config backends --local --all
  # Read a saved dump
  gw proxy config all --local -o json > dump.json
  gw proxy config backends --file dump.json`

export function addProxyConfig(program: Command, finish: (code: number) => void): void {
  const config = proxyGroup(program)
    .command('config')
    .aliases(['c', 'cfg'])
    .description('Print the active configuration of a proxy')
    .addHelpText('after', HELP)
  addSource(config.command('all').description('Print the whole configuration; short is a summary')).action(
    async (flags: ConfigFlags) => {
      const { configCommand } = await import('../proxy/config.ts')
      finish(await configCommand('all', flags))
    },
  )
  addSource(config.command('backends').aliases(['b', 'be']).description('Print endpoints with their health and usage'))
    .option('--all', 'Include endpoints that have received no request')
    .action(async (flags: ConfigFlags) => {
      const { configCommand } = await import('../proxy/config.ts')
      finish(await configCommand('backends', flags))
    })
}

function addSource(command: Command): Command {
  return addTargetFlags(command)
    .option('-f, --file <path>', 'Read a saved dump instead of a running proxy; - is standard input')
    .addOption(new Option('-o, --output <format>', 'Output format').choices(['short', 'json', 'yaml']).default('short'))
}
