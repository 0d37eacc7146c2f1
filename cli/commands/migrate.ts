// gw migrate: flags and help. The command itself is in cli/migrate, loaded when it runs.
import type { Command } from 'commander'
import type { MigrateFlags } from '../migrate/run.ts'

const HELP = `
Prints Gateways, HTTPRoutes and GwPolicies to standard output, and what has no equal to standard error. An Ingress with an
annotation that protects it and has no equal is left out: the exit code is then 1.

Examples:
  gw migrate ingress manifests > gateway.yaml
  kubectl get ingress,service -A -o yaml | gw migrate ingress - > gateway.yaml
  gw validate --ignore-missing gateway.yaml`

const STANDALONE_HELP = `
Prints the file with the fields of gw to standard output, and what has no equal to standard error. A field that protects
traffic and has no equal stays in the file, which is not valid until you replace the field: the exit code is then 1.

Examples:
  gw migrate standalone config.yaml > gw.yaml
  gw validate gw.yaml`

export function addMigrate(program: Command, finish: (code: number) => void): void {
  const migrate = program.command('migrate').description('Translate the configuration of another gateway')
  migrate
    .command('standalone')
    .description('Translate a standalone file of agentgateway')
    .argument('<path>', 'The file; - is standard input')
    .addHelpText('after', STANDALONE_HELP)
    .action(async (path: string) => {
      const { migrateStandaloneCommand } = await import('../migrate/run.ts')
      finish(await migrateStandaloneCommand(path))
    })
  migrate
    .command('ingress')
    .description('Translate Ingresses with annotations of the nginx Ingress controller')
    .argument('<paths...>', 'Files or folders with Ingresses, and Services whose ports have names; - is standard input')
    .option('--gateway <name>', 'Name of the Gateway in each namespace', 'web')
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: MigrateFlags) => {
      const { migrateCommand } = await import('../migrate/run.ts')
      finish(await migrateCommand(paths, flags))
    })
}
