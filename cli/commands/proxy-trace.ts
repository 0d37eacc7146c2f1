// gw proxy trace: flags and help. The command itself is in cli/trace, loaded when it runs.
import { InvalidArgumentError, type Command } from 'commander'
import { proxyGroup } from './proxy-group.ts'
import type { TraceFlags } from '../trace/plan.ts'

const HELP = `
Without a URL, the command waits for the next request of any client. With a URL, it sends the request with curl to the
listener on --port of this machine. The URL sets only the requested host; the command does not resolve it. The arguments
after the URL are passed to curl.

Examples:
  # Wait for the next request
  gw proxy trace --local
  # Wait for a request of one tenant
  gw proxy trace --local --expression 'request.headers["x-tenant"] == "a"'
  # Send a request and trace it
  gw proxy trace --local --port 8080 -- http://shop.example/cart -X POST -d '{}'
  # Save a trace and show it later
  gw proxy trace --local --raw > trace.jsonl
  gw proxy trace --file trace.jsonl`

const PORT_MAX = 65_535

export function addProxyTrace(program: Command, finish: (code: number) => void): void {
  proxyGroup(program)
    .command('trace')
    .description('Follow one request through a proxy, step by step')
    .argument('[request...]', 'After --: the URL to send, and arguments for curl')
    .option('--local', 'Connect to a proxy on this machine')
    .option('--admin-addr <host:port>', 'Address of its admin server', 'localhost:15000')
    .option('--raw', 'Print each event as one JSON line')
    .option('--expression <cel>', 'Trace the first request that matches this CEL expression')
    .option('--port <number>', 'Port of the listener to send the request to', portNumber)
    .option('-f, --file <path>', 'Show a saved trace instead of tracing a running proxy; - is standard input')
    .addHelpText('after', HELP)
    .action(async (request: string[], flags: TraceFlags) => {
      const { traceCommand } = await import('../trace/run.ts')
      finish(await traceCommand(flags, request))
    })
}

function portNumber(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > PORT_MAX) {
    throw new InvalidArgumentError(`It must be an integer from 1 to ${PORT_MAX}.`)
  }
  return value
}
