// gw proxy log: flags and help. The command itself is in cli/proxy, loaded when it runs.
import { Option, type Command } from 'commander'
import { addTargetFlags, proxyGroup } from './proxy-group.ts'
import type { LogFlags } from '../proxy/log.ts'

const HELP = `
Without a flag, the command prints the current levels. Changes last until the proxy stops.

Examples:
  gw proxy log --local
  gw proxy log --local --level debug
  # Change some modules only
  gw proxy log --local --set otlp=debug,worker=trace`

export function addProxyLog(program: Command, finish: (code: number) => void): void {
  addTargetFlags(proxyGroup(program).command('log').description('Show or set the log levels of a proxy'))
    .addOption(new Option('--level <level>', 'Level, or list of module=level').conflicts('set'))
    .addOption(new Option('--set <module=level,...>', 'Levels of single modules'))
    .addHelpText('after', HELP)
    .action(async (flags: LogFlags) => {
      const { logCommand } = await import('../proxy/log.ts')
      finish(await logCommand(flags))
    })
}
