// gw proxy log: flags and help. What it does is in cli/proxy, loaded when it runs.
import { Option, type Command } from 'commander'
import type { TargetFlags } from '../portforward/targets.ts'
import { addTargetFlags, proxyGroup } from './proxy-group.ts'

export interface LogFlags extends TargetFlags {
  readonly level?: string
  readonly set?: string
}

const HELP = `
Without a flag it prints the levels in force. Changes last until the proxy ends.

Examples:
  gw proxy log --local
  gw proxy log --local --level debug
  # One module, the others stay as they are
  gw proxy log --local --set otlp=debug,worker=trace`

export function addProxyLog(program: Command, finish: (code: number) => void): void {
  addTargetFlags(proxyGroup(program).command('log').description('Show or set the log levels of a proxy'))
    .addOption(new Option('--level <level>', 'Level, or list of module=level').conflicts('set'))
    .addOption(new Option('--set <module=level,...>', 'Levels of modules'))
    .addHelpText('after', HELP)
    .action(async (flags: LogFlags) => {
      const { logCommand } = await import('../proxy/log.ts')
      finish(await logCommand(flags))
    })
}
