// gw proxy trace: flags and help. The command itself is in cli/trace, loaded when it runs.
import type { Command } from 'commander'
import { printError } from '../output.ts'
import { addTargetFlags, portNumber, proxyGroup, RESOURCE_HELP } from './proxy-group.ts'
import { splitArguments, type TraceArguments } from '../trace/plan.ts'
import type { ShownTraceFlags } from '../trace/run.ts'

const HELP = `
At a terminal, the command shows the events in an interactive view (? lists its keys); elsewhere it prints a table.
Without a URL, the command waits for the next request of any client. With a URL, it sends the request with curl to the
listener on --port of the proxy. The URL sets only the requested host; the command does not resolve it. The arguments
after the URL are passed to curl.

Examples:
  # Send a request to a Gateway of the cluster and trace it
  gw proxy trace gateway/web -n shop --port 443 -- https://shop.example/cart -k
  # Wait for the next request
  gw proxy trace --local
  # Wait for a request of one tenant
  gw proxy trace --local --expression 'request.headers["x-tenant"] == "a"'
  # Send a request and trace it
  gw proxy trace --local --port 8080 -- http://shop.example/cart -X POST -d '{}'
  # Save a trace and show it later
  gw proxy trace --local --raw > trace.jsonl
  gw proxy trace --file trace.jsonl`

export function addProxyTrace(program: Command, finish: (code: number) => void): void {
  const trace = proxyGroup(program).command('trace').description('Follow one request through a proxy, step by step')
  addTargetFlags(
    trace.argument('[arguments...]', `${RESOURCE_HELP}. After --: the URL to send, and arguments for curl`),
  )
    .option('--raw', 'Print each event as one JSON line')
    .option('--no-ui', 'Print a table, also at a terminal')
    .option('--expression <cel>', 'Trace the first request that matches this CEL expression')
    .option('--port <number>', 'Port of the listener to send the request to', portNumber)
    .option('-f, --file <path>', 'Show a saved trace instead of tracing a running proxy; - is standard input')
    .addHelpText('after', HELP)
    .action((all: string[], flags: ShownTraceFlags) =>
      withSplitArguments(all, finish, async (given) => {
        const { traceCommand } = await import('../trace/run.ts')
        return traceCommand(flags, given)
      }),
    )
}

/** Runs a command with its resource and, after `--`, its request. */
export async function withSplitArguments(
  all: readonly string[],
  finish: (code: number) => void,
  run: (given: TraceArguments) => Promise<number>,
): Promise<void> {
  const given = splitArguments(all, countAfterDashes(process.argv))
  if ('problem' in given) printError(given.problem)
  finish('problem' in given ? 1 : await run(given))
}

/** The parser drops the first `--`. */
function countAfterDashes(argv: readonly string[]): number {
  const at = argv.indexOf('--')
  return at === -1 ? 0 : argv.length - at - 1
}
