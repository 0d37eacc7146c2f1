// Runs the commands of a page in one shell, as a reader does, with other ports than those of the page.
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '#test/cli/gw.ts'
import type { Step } from '#test/console-steps.ts'

/** For all commands of a block. */
const SHELL_MS = 120_000
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
  readonly folder: string
  readonly ports: Ports
  /** The last change of a command before it runs. */
  readonly change?: (command: string) => string
}

/** `gw` and `bin/gw` are the command. Returns what each step prints, errors included. */
export async function outputsOf(
  steps: readonly Step[],
  { folder, ports, change = (command) => command }: Shell,
): Promise<string[]> {
  const lines = steps.map(({ command }) => `${change(ports.inRun(command))}\nprintf '${MARK}'`)
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
  const script = ['exec 2>&1', ...lines].join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env, timeout: SHELL_MS })
  return ports.onPage(stdout).split(MARK).slice(0, -1)
}

/** `bin/gw` as in a clone. */
export function layCommand(folder: string): void {
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(ROOT, 'bin/gw'), join(folder, 'bin/gw'))
}
