// A terminal in the root of the repository, with the cluster of `make kind-up`.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '#test/cli/gw.ts'
import { failuresOf, layBrowser, layCommand, Ports, type Result, resultsOf } from '../shell.ts'

const COMMAND_MS = 900_000
const OUTPUT_BYTES = 64 * 1024 * 1024

export interface Terminal {
  /** Its `bin` is on the PATH. */
  readonly folder: string
  /** What `gw ui` has opened. */
  readonly opened: string
  /** In one shell. @throws {Error} with the output of commands that fail */
  run(commands: readonly string[]): Promise<Result[]>
  end(): void
}

/** With `gw`, `kubectl gw` and helm. */
export function openTerminal(): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'gw-terminal-'))
  layCommand(folder)
  const opened = layBrowser(folder)
  symlinkSync(join(ROOT, 'bin/kubectl-gw'), join(folder, 'bin/kubectl-gw'))
  const helm = execFileSync('hack/helm.sh', { cwd: ROOT, encoding: 'utf8', timeout: COMMAND_MS }).trim()
  symlinkSync(helm, join(folder, 'bin/helm'))
  return {
    folder,
    opened,
    run: async (commands) => {
      const steps = commands.map((command) => ({ command }))
      const results = await resultsOf(steps, { folder, cwd: ROOT, ports: new Ports(new Map()), limitMs: COMMAND_MS })
      const failures = failuresOf(results)
      if (failures.length > 0) throw new Error(failures.join('\n'))
      return results
    },
    end: () => rmSync(folder, { recursive: true }),
  }
}

/** Sets KUBECONFIG and PATH as the line of `make kind-up` does. @throws {Error} if there is no such cluster */
export async function useCluster(): Promise<void> {
  const script = 'x=$(hack/kind.sh env) && eval "$x" && printf "%s\\n%s" "$KUBECONFIG" "$PATH"'
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: ROOT, maxBuffer: OUTPUT_BYTES })
  const [kubeconfig, path] = stdout.split('\n')
  process.env['KUBECONFIG'] = kubeconfig
  process.env['PATH'] = path
}
