// gw explain: flags and help. The command itself is in cli/explain, loaded when it runs.
import { type Command, Option } from 'commander'
import type { ExplainFlags } from '../explain/run.ts'
import { addTargetFlags, portNumber, RESOURCE_HELP } from './proxy-group.ts'
import { withSplitArguments } from './proxy-trace.ts'

const HELP = `
With a URL, the command sends the request with curl and explains its response. Without a URL, it explains the response
to the next request of any client. The arguments after the URL are passed to curl.

Examples:
  # Why does this request get 403?
  gw explain gateway/web -n shop -- https://shop.example/admin -k
  gw explain --local -- http://127.0.0.1:8080/admin-only
  # The response to the next request of one tenant
  gw explain gateway/web -n shop --expression 'request.headers["x-tenant"] == "a"'
  # A saved trace
  gw explain --file trace.jsonl`

export function addExplain(program: Command, finish: (code: number) => void): void {
  const explain = program.command('explain').description('Explain the response to one request: what decided, and why')
  addTargetFlags(
    explain.argument('[arguments...]', `${RESOURCE_HELP}. After --: the URL to send, and arguments for curl`),
  )
    .option('--expression <cel>', 'Explain the first request that matches this CEL expression')
    .option('--port <number>', 'Port of the listener to send the request to; default the port of the URL', portNumber)
    .option('-f, --file <path>', 'Explain a saved trace; - is standard input')
    .addOption(new Option('-o, --output <format>', 'Output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', HELP)
    .action((all: string[], flags: ExplainFlags) =>
      withSplitArguments(all, finish, async (given) => {
        const { explainCommand } = await import('../explain/run.ts')
        return explainCommand(flags, given)
      }),
    )
}
