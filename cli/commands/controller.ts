// gw controller: the operator of a cluster. Loaded when it runs.
import type { Command } from 'commander'

const HELP = `
Settings come from the environment; docs/cluster.md lists them. The API server is that of the pod, else that of
KUBECONFIG.

Examples:
  # As the operator's container does
  gw controller
  # On a developer's machine, against the cluster of KUBECONFIG
  GW_DISABLE_LEADER_ELECTION=true gw controller`

export function addController(program: Command, finish: (code: number) => void): void {
  program
    .command('controller')
    .description('Run the operator of a cluster')
    .addHelpText('after', HELP)
    .action(async () => {
      const { runOperator } = await import('#operator/main.ts')
      finish(await runOperator(process.env))
    })
}
