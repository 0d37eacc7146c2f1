// Runs the commands of a page in one shell, as a reader does, with other ports than those of the page.
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { GwProcess, ROOT } from '#test/cli/gw.ts'
import type { Step } from '#test/console-steps.ts'

const SHELL_MS = 120_000
const ANY = '127.0.0.1:0'
const OWN_SERVERS = { ADMIN_ADDR: ANY, STATS_ADDR: ANY, READINESS_ADDR: ANY }
const OUTPUT_BYTES = 64 * 1024 * 1024
const MARK = '\u0001'

/** From ports of a page to those of this run. */
export class Ports {
  readonly #toRun: ReadonlyMap<number, number>
  readonly #toPage: ReadonlyMap<number, number>

  constructor(ports: ReadonlyMap<number, number>) {
    this.#toRun = ports
    this.#toPage = new Map([...ports].map(([page, real]) => [real, page]))
  }

  of(page: number): number {
    return this.#toRun.get(page) ?? page
  }

  inRun(text: string): string {
    return renumber(text, this.#toRun)
  }

  onPage(text: string): string {
    return renumber(text, this.#toPage)
  }
}

function renumber(text: string, numbers: ReadonlyMap<number, number>): string {
  return text.replaceAll(/(?<=:|port |port: )\d{4,5}\b/g, (digits) => String(numbers.get(Number(digits)) ?? digits))
}

export interface Shell {
  /** Its `bin` is on the PATH. */
  readonly folder: string
  /** Where commands run; default: the folder. */
  readonly cwd?: string
  readonly ports: Ports
  /** For all commands together; default: two minutes. */
  readonly limitMs?: number
  /** The last change of a command before it runs. */
  readonly change?: (command: string) => string
}

/** `gw` and `bin/gw` are the command. Returns what each step prints, errors included. */
export async function outputsOf(steps: readonly Pick<Step, 'command'>[], shell: Shell): Promise<string[]> {
  return (await resultsOf(steps, shell)).map(({ printed }) => printed)
}

export interface Result {
  readonly command: string
  readonly printed: string
  /** Exit code; 0 for a command in the background. */
  readonly code: number
}

/** The same with exit codes. */
export async function resultsOf(
  steps: readonly Pick<Step, 'command'>[],
  { folder, cwd = folder, ports, change = (command) => command, limitMs = SHELL_MS }: Shell,
): Promise<Result[]> {
  const lines = steps.map(({ command }) => `${change(ports.inRun(command))}\nprintf '${MARK}%s${MARK}' $?`)
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
  const script = ["exec 2>&1; trap 'kill $(jobs -p) 2> /dev/null' EXIT", ...lines].join('\n')
  const options = { cwd, env, timeout: limitMs, maxBuffer: OUTPUT_BYTES }
  const { stdout } = await promisify(execFile)('bash', ['-c', script], options)
  const parts = ports.onPage(stdout).split(MARK)
  return steps.map(({ command }, at) => ({ command, printed: parts[2 * at] ?? '', code: Number(parts[2 * at + 1]) }))
}

/** Of each command that failed: with what it printed. */
export function failuresOf(results: readonly Result[]): string[] {
  return results.flatMap(({ command, printed, code }) =>
    code === 0 ? [] : [`${command}\nends with ${code}:\n${printed}`],
  )
}

/**
 * Runs commands of a page that start the gateway, with `bin/gw` of the folder, one worker, and free ports for its own
 * servers. Variables that the commands export keep the values of `environment`.
 */
export function startInShell(
  commands: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): GwProcess {
  const last = commands.length - 1
  const lines = commands.map((command, at) => (at === last ? withExec(command) : withGiven(command)))
  const env = { ...OWN_SERVERS, ...environment, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
  return new GwProcess(['-c', lines.join('\n')], env, { program: 'bash', folder })
}

/** The shell becomes the last program, so that signals reach it. */
function withExec(command: string): string {
  return command.replace(/^((?:[A-Z_]+=(?:"[^"]*"|'[^']*'|\S)* )*)/, '$1exec ')
}

function withGiven(command: string): string {
  if (!command.startsWith('export ')) return command
  return command.replaceAll(/ ([A-Z_]+)=(\S+)/g, (_, name: string, value: string) => ` ${name}="\${${name}:-${value}}"`)
}

/** `bin/gw` as in a clone. */
export function layCommand(folder: string): void {
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(ROOT, 'bin/gw'), join(folder, 'bin/gw'))
}

/** The page of `gw ui` in a file, as a browser gets it: what the command opens must not depend on the machine. */
export function layBrowser(folder: string): string {
  const page = join(folder, 'opened.html')
  const script = `#!/bin/sh\ncurl -sfL -c "${folder}/cookies" -o "${page}" "$1"\n`
  writeFileSync(join(folder, 'bin/xdg-open'), script, { mode: 0o755 })
  return page
}

/** A command that runs until Ctrl-C, in its place: pressed when the file is there. */
export function untilFile(command: string, file: string): string {
  return [
    `rm -f "${file}"; ${command} & waiting=$!`,
    `for i in $(seq 600); do [ -s "${file}" ] && break; sleep 0.1; done`,
    `kill -INT $waiting; wait $waiting; [ -s "${file}" ]`,
  ].join('\n')
}
