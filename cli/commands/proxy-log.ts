// gw proxy log: flags and help. The command itself is in cli/proxy, loaded when it runs.
import { Option, type Command } from 'commander'
import { addTargetFlags, proxyGroup, RESOURCE_HELP } from './proxy-group.ts'
import type { LogFlags } from '../proxy/log.ts'

const HELP = `
Without a flag, the command prints the current levels. Changes last until the proxy stops. In a cluster they apply to
all pods of the resource.

Examples:
  gw proxy log gateway/web -n shop
  gw proxy log --local --level debug
  # Change some modules only
  gw proxy log gateway/web -n shop --set otlp=debug,worker=trace`

export function addProxyLog(program: Command, finish: (code: number) => void): void {
  const log = proxyGroup(program).command('log').description('Show or set the log levels of a proxy')
  addTargetFlags(log.argument('[resource]', RESOURCE_HELP))
    .addOption(new Option('--level <level>', 'Level, or list of module=level').conflicts('set'))
    .addOption(new Option('--set <module=level,...>', 'Levels of single modules'))
    .addHelpText('after', HELP)
    .action(async (resource: string | undefined, flags: LogFlags) => {
      const { logCommand } = await import('../proxy/log.ts')
      finish(await logCommand(resource, flags))
    })
}
