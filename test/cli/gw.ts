// The gw command as users run it: a process of bin/gw, its output, and its exit.
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const BIN = fileURLToPath(new URL('../../bin/gw', import.meta.url))
/** A cold start on a busy machine takes more than fifteen seconds. */
const DEADLINE_MS = 45_000
const POLL_MS = 10

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface GwOptions {
  readonly descriptors?: number
  readonly input?: string
  readonly program?: string
  readonly folder?: string
}

export class GwProcess {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<Finished>

  /**
   * `descriptors`: limit of open files and connections. `input`: all of its standard input. `program`, `folder`: in
   * place of `bin/gw` and the root.
   */
  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    { descriptors, input, program = BIN, folder = ROOT }: GwOptions = {},
  ) {
    const [command, given] =
      descriptors === undefined
        ? [program, args]
        : ['sh', ['-c', `ulimit -n ${descriptors}; exec "$0" "$@"`, BIN, ...args]]
    this.child = spawn(command, given, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    this.child.stdin?.end(input)
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }))
    })
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  async says(text: string): Promise<void> {
    await until(
      `gw says ${text}`,
      () => this.stderr.includes(text),
      () => `${this.stdout}\n${this.stderr}`,
    )
  }

  /** Ends it as a user does, so that it can clean up; kills it if it does not end. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), DEADLINE_MS)
    await this.ended
    clearTimeout(timer)
  }
}

export function gw(...args: readonly string[]): Promise<Finished> {
  return new GwProcess(args).ended
}

/** Admin, metrics and readiness servers on ports that the system chooses. */
export const ANY_PORTS = [
  '--admin-addr=127.0.0.1:0',
  '--stats-addr=127.0.0.1:0',
  '--readiness-addr=127.0.0.1:0',
  '--workers=1',
] as const

export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  detail: () => string = () => '',
): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`waited ${DEADLINE_MS} ms until ${what}\n${detail()}`)
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS)
    })
  }
}
