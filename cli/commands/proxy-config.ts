// gw proxy config: flags and help. What it does is in cli/proxy, loaded when it runs.
import { Option, type Command } from 'commander'
import type { TargetFlags } from '../portforward/targets.ts'
import { addTargetFlags, proxyGroup } from './proxy-group.ts'

export type ConfigFormat = 'short' | 'json' | 'yaml'

export interface ConfigFlags extends TargetFlags {
  readonly file?: string
  readonly output: ConfigFormat
  readonly all?: boolean
}

const HELP = `
Examples:
  # Listeners, routes, backends and policies that are in force
  gw proxy config all --local
  # Everything, as the proxy has it
  gw proxy config all --local -o yaml
  # Health, requests and latency of every endpoint
  gw proxy config backends --local --all
  # Of a dump that was kept
  gw proxy config all --local -o json > dump.json
  gw proxy config backends --file dump.json`

export function addProxyConfig(program: Command, finish: (code: number) => void): void {
  const config = proxyGroup(program)
    .command('config')
    .aliases(['c', 'cfg'])
    .description('Print the configuration that a proxy has in force')
    .addHelpText('after', HELP)
  addSource(config.command('all').description('The whole configuration; short is a summary')).action(
    async (flags: ConfigFlags) => {
      const { configCommand } = await import('../proxy/config.ts')
      finish(await configCommand('all', flags))
    },
  )
  addSource(config.command('backends').aliases(['b', 'be']).description('Endpoints with their health and use'))
    .option('--all', 'Also those that had no request')
    .action(async (flags: ConfigFlags) => {
      const { configCommand } = await import('../proxy/config.ts')
      finish(await configCommand('backends', flags))
    })
}

function addSource(command: Command): Command {
  return addTargetFlags(command)
    .option('-f, --file <path>', 'A dump that was kept, - for standard input, instead of a running proxy')
    .addOption(new Option('-o, --output <format>', 'Form').choices(['short', 'json', 'yaml']).default('short'))
}
