// gw proxy trace: flags and help. What it does is in cli/trace, loaded when it runs.
import { InvalidArgumentError, type Command } from 'commander'
import { proxyGroup } from './proxy-group.ts'

export interface TraceFlags {
  readonly local?: boolean
  readonly adminAddr: string
  readonly raw?: boolean
  readonly expression?: string
  readonly port?: number
  readonly file?: string
}

const HELP = `
Without a URL it waits for the next request of any client. With one it sends the request itself, by curl, to the
listener on --port of this machine; the host of the URL only names the host to ask for. What follows the URL goes to
curl.

Examples:
  # Wait for the next request
  gw proxy trace --local
  # Wait for a request of one tenant
  gw proxy trace --local --expression 'request.headers["x-tenant"] == "a"'
  # Send a request and trace it
  gw proxy trace --local --port 8080 -- http://shop.example/cart -X POST -d '{}'
  # Keep a trace, and look at it later
  gw proxy trace --local --raw > trace.jsonl
  gw proxy trace --file trace.jsonl`

const PORT_MAX = 65_535

export function addProxyTrace(program: Command, finish: (code: number) => void): void {
  proxyGroup(program)
    .command('trace')
    .description('Follow one request through a proxy, step by step')
    .argument('[request...]', 'After --: the URL to send, and arguments for curl')
    .option('--local', 'Talk to a proxy on this machine')
    .option('--admin-addr <host:port>', 'Its admin server', 'localhost:15000')
    .option('--raw', 'Print each event as one line of JSON')
    .option('--expression <cel>', 'Trace the first request for which it is true')
    .option('--port <number>', 'Port of the listener to send the request to', portNumber)
    .option('-f, --file <path>', 'Show a trace that was kept, - for standard input, instead of a running proxy')
    .addHelpText('after', HELP)
    .action(async (request: string[], flags: TraceFlags) => {
      const { traceCommand } = await import('../trace/run.ts')
      finish(await traceCommand(flags, request))
    })
}

function portNumber(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > PORT_MAX) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${PORT_MAX}.`)
  }
  return value
}
