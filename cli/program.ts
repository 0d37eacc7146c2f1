// The command tree with help and completion. Commands load what they need when they run: `gw version` must not pay for
// the proxy.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { nearestName } from '#api/nearest.ts'
import { printable } from '#api/printable.ts'
import { VERSION } from '#api/version.ts'
import { addController } from './commands/controller.ts'
import { addExplain } from './commands/explain.ts'
import { addMcpCommands } from './commands/mcp.ts'
import { addMigrate } from './commands/migrate.ts'
import { addProxyConfig } from './commands/proxy-config.ts'
import { addProxyLog } from './commands/proxy-log.ts'
import { addProxyProfile } from './commands/proxy-profile.ts'
import { addProxyToken } from './commands/proxy-token.ts'
import { addProxyServe } from './commands/proxy-serve.ts'
import { addProxyTrace } from './commands/proxy-trace.ts'
import { addUi } from './commands/ui.ts'
import type { ValidateFlags } from './commands/validate.ts'
import { portNumber } from './commands/proxy-group.ts'
import type { RunFlags } from './options.ts'
import { QUICK_PROVIDERS } from './quickstart.ts'
import { endWithReader, outliveReader } from './lost-readers.ts'

/** Commands that run until a signal ends them. */
const SERVING: ReadonlySet<string> = new Set(['run', 'serve'])
/** The same limit as in the proxy. */
const WORKERS_MAX = 64

const SEE_HELP = 'Run the command with --help for its flags.'

const EXAMPLES = {
  run: `
Examples:
  # Serve the models of OpenAI with the key in OPENAI_API_KEY
  gw run --provider openai
  # Run the manifests of a folder on loopback; changes take effect at once
  gw run -f config/samples/quickstart
  # Run a standalone file with two workers
  gw run -f gateway.yaml --workers 2`,
  validate: `
Examples:
  # Check every manifest of a folder; the exit code is 1 if there is an error
  gw validate config/samples
  # Accept missing objects; report problems as annotations of a pull request
  gw validate manifests --ignore-missing -o github
  # Check the output of another program
  kubectl get httproute -A -o yaml | gw validate -f -`,
  translate: `
Examples:
  # Print the configuration for the proxy and the status of every object
  gw translate -f config/samples/quickstart
  gw translate -f config/samples/quickstart -o json
  # Print the Deployment, Service and other objects for each Gateway, with overlays
  gw translate --deployment -f config/samples/deployment`,
}

/** Resolves to the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  let code = 0
  outliveReader()
  const program = buildProgram((result) => {
    code = result
  })
  // `gw proxy serve` is a command of a group.
  if (!SERVING.has((argv[2] === 'proxy' ? argv[3] : argv[2]) ?? '')) {
    const { addCompletion } = await import('./completion.ts')
    await addCompletion(program, argv)
  }
  try {
    await program.parseAsync(argv)
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    throw error
  }
}

/** `finish` gets the exit code of the command that runs. */
export function buildProgram(finish: (code: number) => void): Command {
  const program = new Command('gw')
    .description('Gw: a gateway for HTTP, LLM and MCP traffic, with or without Kubernetes.')
    .version(VERSION, '-v, --version', 'Print the version')
    .helpCommand('help [command]', 'Help about any command')
    .helpOption('-h, --help', 'Print help')
    .option('--no-color', 'Print no colours, as with the variable NO_COLOR')
    .exitOverride()
    .configureOutput({
      // Help and version are printed before any action runs, so the hook below is too late for them.
      writeOut: (text) => {
        endWithReader()
        process.stdout.write(text)
      },
      // The message quotes the user's arguments.
      outputError: (text, write) => write(callError(text)),
    })
    .showHelpAfterError(SEE_HELP)
    .hook('preAction', (_program, command) => {
      // What prints colours reads the variable: one switch for all.
      if (program.opts()['color'] === false) process.env['NO_COLOR'] = '1'
      if (!SERVING.has(command.name())) endWithReader()
    })
  addRun(program, finish)
  addValidate(program, finish)
  addTranslate(program, finish)
  addExplain(program, finish)
  addProxyTrace(program, finish)
  addProxyConfig(program, finish)
  addProxyLog(program, finish)
  addProxyProfile(program, finish)
  addProxyToken(program, finish)
  addProxyServe(program, finish)
  addMcpCommands(program, finish)
  addUi(program, finish)
  addMigrate(program, finish)
  addController(program, finish)
  program
    .command('version')
    .description('Print the version')
    .action(() => console.log(VERSION))
  nameCommands(program)
  return program
}

/** What a user gets who passes a file without the flag, or the flag without a file. */
const LACKS_FILE = /too many arguments|option '-f, --file/

/** Groups name their commands after a mistake; others take no file but with `-f`. */
function nameCommands(group: Command): void {
  for (const command of group.commands) {
    const names = command.commands.map((each) => each.name())
    if (names.length > 0) {
      command.showHelpAfterError(`The commands of ${command.name()} are ${names.join(', ')}.\n${SEE_HELP}`)
      nameCommands(command)
    } else if (command.options.some(({ long }) => long === '--file') && command.registeredArguments.length === 0) {
      const outputError = (text: string, write: (text: string) => void): void =>
        write(`${callError(text)}${LACKS_FILE.test(text) ? 'Pass a file or folder with -f.\n' : ''}`)
      command.configureOutput({ outputError })
    }
  }
}

function addRun(program: Command, finish: (code: number) => void): void {
  program
    .command('run')
    .description('Run a proxy for a standalone file or a folder of Kubernetes manifests')
    .option('-f, --file <path>', 'Standalone file, manifest file or folder of manifests; - is standard input')
    .addOption(
      new Option('--provider <name>', 'Serve the models of one provider, without a file').choices(QUICK_PROVIDERS),
    )
    .option('--port <number>', 'With --provider: port for clients; default 4000', portNumber)
    .option('--listen-address <address>', 'Address that listeners bind to', '127.0.0.1')
    .option('--admin-addr <host:port>', 'Address of the admin server; default localhost:15000')
    .option('--stats-addr <host:port>', 'Address of the metrics server; default localhost:15020')
    .option('--readiness-addr <host:port>', 'Address of the readiness server; default localhost:15021')
    .option('--workers <number>', 'Number of traffic threads; default one for each processor', workerCount)
    .addOption(new Option('--log-format <format>', 'Format of log lines; default text').choices(['text', 'json']))
    .option('--log-level <directive>', 'Level, or list of module=level; default info')
    .option('--no-access-log', 'Do not log requests')
    .addHelpText('after', EXAMPLES.run)
    .action(async (options: RunFlags) => {
      const { runCommand } = await import('./commands/run.ts')
      finish(await runCommand(options))
    })
}

function addValidate(program: Command, finish: (code: number) => void): void {
  program
    .command('validate')
    .description('Check manifests or a standalone file: structure, validation rules and references')
    .argument('[paths...]', 'Files or folders; - is standard input')
    .option('-f, --file <path>', 'Same as [paths...]; may be repeated', several)
    .option('--ignore-missing', 'Report references to missing objects as warnings')
    .addOption(new Option('-o, --output <format>', 'Output format').choices(['text', 'json', 'github']).default('text'))
    .addHelpText('after', EXAMPLES.validate)
    .action(async (paths: string[], options: ValidateFlags) => {
      const { validateCommand } = await import('./commands/validate.ts')
      finish(await validateCommand(paths, options))
    })
}

function addTranslate(program: Command, finish: (code: number) => void): void {
  program
    .command('translate')
    .description('Translate manifests and print the rendered configuration and the statuses')
    .requiredOption('-f, --file <path>', 'File or folder; - is standard input')
    .option('--deployment', 'Print the objects that run each Gateway instead: Deployment, Service and others')
    .addOption(new Option('-o, --output <format>', 'Output format').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', EXAMPLES.translate)
    .action(async (options: { file: string; output: 'yaml' | 'json'; deployment?: boolean }) => {
      const { translateCommand } = await import('./commands/translate.ts')
      finish(await translateCommand(options))
    })
}

/** The library puts a suggestion on its own line; other lines are the user's. */
function callError(text: string): string {
  const [, error = '', suggestion = ''] = /^(.*?)(\n\(Did you mean [^\n]*\))?$/s.exec(text.trimEnd()) ?? []
  return `${printable(error)}${suggestion === '' ? nearestChoice(error) : suggestion}\n`
}

/** For a value of an option that has a list of them; the library suggests names of commands and options only. */
function nearestChoice(error: string): string {
  const found = /argument '(?<given>.*)' is invalid\. Allowed choices are (?<choices>.*)\.$/.exec(error)?.groups
  const nearest = nearestName(found?.['given'] ?? '', found?.['choices']?.split(', ') ?? [])
  return nearest === undefined ? '' : `\n(Did you mean ${nearest}?)`
}

function several(value: string, former: readonly string[] = []): readonly string[] {
  return [...former, value]
}

function workerCount(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= WORKERS_MAX) return value
  throw new InvalidArgumentError(`It must be an integer from 1 to ${WORKERS_MAX}.`)
}
