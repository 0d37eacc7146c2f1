// gw mcp check and gw mcp pins: flags and help. The commands themselves are in cli/mcp, loaded when they run.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CheckFlags } from '../mcp/check.ts'
import type { PinsFlags } from '../mcp/pins.ts'

const SECONDS_MAX = 300
const HELP = `
Without a credential the command checks what a client needs to sign in. With one it also opens a session and lists
the tools. The exit code is 0 if no step failed, 1 if a step failed, and 2 if the server cannot be reached.

Environment:
  GW_MCP_TOKEN          access token, as --token; other users of the machine cannot see it
  GW_MCP_CLIENT_SECRET  secret of --client-id

Examples:
  # Check the sign-in of an MCP server
  gw mcp check https://mcp.example.com/mcp
  # Get a token with the client credentials grant, and list the tools
  GW_MCP_CLIENT_SECRET=... gw mcp check https://mcp.example.com/mcp --client-id ci
  # For scripts
  gw mcp check https://mcp.example.com/mcp -o json`

const PINS_HELP = `
Review the descriptions of the tools before you paste the output into the GwBackend: a pin means that the tool is the one
that you have reviewed. Use the URL of the server itself, or of a route with this server alone.

Environment:
  GW_MCP_TOKEN  access token, as --token; other users of the machine cannot see it

Examples:
  # The pins of a server that is the target "files" of a GwBackend
  gw mcp pins https://files.example.com/mcp --target files`

export function addMcpCommands(program: Command, finish: (code: number) => void): void {
  const mcp = program.command('mcp').description('Inspect an MCP server')
  addPins(mcp, finish)
  mcp
    .command('check')
    .description('Check each step of the sign-in of MCP clients, and report what fails and how to mend it')
    .argument('<url>', 'URL of the MCP server')
    .option('--token <token>', 'Access token; default GW_MCP_TOKEN')
    .option('--client-id <id>', 'Client that gets a token with the client credentials grant')
    .option('--scope <scopes>', 'Scopes of this token, separated by spaces')
    .option('--register', 'Register a client; the identity provider keeps it')
    .option('--timeout <seconds>', 'Time for each request', seconds, 10)
    .addOption(new Option('-o, --output <format>', 'Output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', HELP)
    .action(async (url: string, flags: CheckFlags) => {
      const { checkCommand } = await import('../mcp/check.ts')
      finish(await checkCommand(url, flags))
    })
}

function addPins(mcp: Command, finish: (code: number) => void): void {
  mcp
    .command('pins')
    .description('Print the digests of the tools of an MCP server, for toolPinning of a GwBackend')
    .argument('<url>', 'URL of the MCP server')
    .requiredOption('--target <name>', 'Name of the target in the GwBackend')
    .option('--token <token>', 'Access token; default GW_MCP_TOKEN')
    .option('--timeout <seconds>', 'Time for each request', seconds, 10)
    .addHelpText('after', PINS_HELP)
    .action(async (url: string, flags: PinsFlags) => {
      const { pinsCommand } = await import('../mcp/pins.ts')
      finish(await pinsCommand(url, flags))
    })
}

function seconds(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= SECONDS_MAX) return value
  throw new InvalidArgumentError(`It must be an integer from 1 to ${SECONDS_MAX}.`)
}
