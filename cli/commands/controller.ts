// gw controller: the operator of a cluster. Loaded when it runs.
import { type Command, Option } from 'commander'
import { addClusterFlags } from './proxy-group.ts'
import type { ControllerLogFlags } from '../controller/log.ts'

const HELP = `
Environment variables set the options of the operator; docs/cluster.md lists them. In a pod, the operator connects to the
API server of its cluster. Elsewhere it uses KUBECONFIG.

Examples:
  # The command of the operator's container
  gw controller
  # On a developer's machine, against the cluster of KUBECONFIG
  GW_DISABLE_LEADER_ELECTION=true gw controller`

const LOG_HELP = `
Without a flag, the command prints the current levels. Changes last until the operator stops. They apply to
every replica.

Examples:
  gw controller log
  gw controller log --level debug
  gw controller log --set translator=debug,status=warn`

export function addController(program: Command, finish: (code: number) => void): void {
  const controller = program
    .command('controller')
    .description('Run the operator of a cluster')
    .addHelpText('after', HELP)
    .action(async () => {
      const { runOperator } = await import('#operator/main.ts')
      finish(await runOperator(process.env))
    })
  addClusterFlags(controller.command('log').description('Show or set the log levels of the operator'))
    .option('-n, --namespace <name>', 'Namespace of the operator', 'gw-system')
    .addOption(new Option('--level <level>', 'Level of all components').conflicts('set'))
    .option(
      '--set <component=level,...>',
      'Levels of single components; may be repeated',
      (text, all: string[]) => [...all, text],
      [],
    )
    .addHelpText('after', LOG_HELP)
    .action(async (flags: ControllerLogFlags) => {
      const { controllerLogCommand } = await import('../controller/log.ts')
      finish(await controllerLogCommand(flags))
    })
}
