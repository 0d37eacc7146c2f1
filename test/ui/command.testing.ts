// A gateway from a bundle, with a route that is open and one for a role.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'

/** From sources, on a machine with other work. */
const START_MS = 60_000

export interface RunningCommand {
  readonly url: string
  readonly admin: string
  /** Its configuration. */
  readonly file: string
  stop(): Promise<void>
}

export interface CommandOptions {
  /** A standalone file in place of that of the two routes; `PORT` and `ADMIN` in it are its ports. */
  readonly given?: string | undefined
  /** Of the process, besides that of the test. */
  readonly environment?: Readonly<Record<string, string>>
}

/** `folder`: for its configuration. */
export async function startCommand(
  command: string,
  folder: string,
  { given, environment = {} }: CommandOptions = {},
): Promise<RunningCommand> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const file = join(folder, 'gw.yaml')
  const routes = [
    { name: 'open', matches: [{ path: { exact: '/open' } }], policies: { directResponse: { status: 200 } } },
    {
      name: 'admin',
      matches: [{ path: { pathPrefix: '/admin' } }],
      policies: { authorization: { rules: [{ allow: 'request.headers["x-role"] == "admin"' }] } },
      backends: [{ host: '127.0.0.1:9' }],
    },
  ]
  writeFileSync(
    file,
    given?.replaceAll('PORT', String(port)).replaceAll('ADMIN', String(adminPort)) ??
      JSON.stringify({ binds: [{ port, listeners: [{ routes }] }] }),
  )
  const admin = `127.0.0.1:${adminPort}`
  const any = '127.0.0.1:0'
  const addresses = [`--admin-addr=${admin}`, `--stats-addr=${any}`, `--readiness-addr=${any}`]
  const child = spawn(process.execPath, [command, 'run', '-f', file, ...addresses], {
    stdio: 'pipe',
    env: { ...process.env, ...environment },
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  try {
    await until('the gateway serves', () => log.includes('configuration applied'), START_MS)
  } catch (error) {
    await stop()
    throw new Error(log, { cause: error })
  }
  return { url: `http://127.0.0.1:${port}`, admin: `http://${admin}`, file, stop }
}
