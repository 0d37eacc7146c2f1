// gw ui: flags and help. The command itself is in cli/ui, loaded when it runs.
import type { Command } from 'commander'
import type { UiFlags } from '../ui/run.ts'
import { addTargetFlags, RESOURCE_HELP } from './proxy-group.ts'

const HELP = `
The command forwards the admin server to a port of this machine, and opens it in the browser until Ctrl-C.
The URL contains a key of this start: other users of the machine cannot use the port without it.

Examples:
  gw ui gateway/web -n shop
  gw ui --controller
  gw ui --local --no-open`

export function addUi(program: Command, finish: (code: number) => void): void {
  addTargetFlags(
    program
      .command('ui')
      .description('Open the web UI of a proxy or of the controller')
      .argument('[resource]', RESOURCE_HELP),
  )
    .option('--controller', 'The web UI of the controller in place of that of a proxy; namespace gw-system unless -n')
    .option('--no-open', 'Print the URL without opening a browser')
    .addHelpText('after', HELP)
    .action(async (resource: string | undefined, flags: UiFlags) => {
      const { uiCommand } = await import('../ui/run.ts')
      finish(await uiCommand(resource, flags))
    })
}
