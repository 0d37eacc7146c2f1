// The outputs of a running gateway and of its commands, which tests search for secrets: one list of requests for all
// tests, so that each of them searches a new endpoint.
import { watchTrace } from '#proxy/trace/watcher.testing.ts'
import { type Finished, gw } from '#test/cli/gw.ts'

/** A request and the expected status. */
export interface Ask {
  /** Including the query. */
  readonly path: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with POST; GET without one. */
  readonly body?: string
}

/** Ports of one gateway on loopback. */
export interface GatewayPorts {
  readonly http: number
  readonly admin: number
  readonly stats: number
}

export interface Asked {
  /** Responses in the order of the requests. */
  readonly statuses: readonly number[]
  /** By name. */
  readonly outputs: ReadonlyMap<string, string>
}

const ADMIN_PATHS = [
  '/config_dump',
  '/memory',
  '/logging',
  '/debug/tasks',
  '/connections',
  '/endpoints',
  '/mcp_sessions',
  '/debug/route?url=http://localhost/',
  '/debug/pprof/profile?seconds=1',
  '/debug/pprof/heap',
  '/debug/pprof/heap?seconds=1',
]

/** Sends the requests one by one, each with a trace; the outputs are the responses and all events of the traces. */
export async function askWatched(asks: readonly Ask[], { http, admin }: GatewayPorts): Promise<Asked> {
  const statuses: number[] = []
  const answers: string[] = []
  const traces: unknown[] = []
  for (const { path, headers = {}, body } of asks) {
    const watcher = await watchTrace({ adminPort: admin })
    const response = await fetch(`http://127.0.0.1:${http}${path}`, {
      headers,
      ...(body !== undefined && { method: 'POST', body }),
    })
    statuses.push(response.status)
    answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`)
    for (const event of await watcher.ended) {
      traces.push(event, Buffer.from(event.message.body ?? '', 'base64').toString('latin1'))
    }
  }
  return {
    statuses,
    outputs: new Map([
      ['answers', answers.join('\n')],
      ['traces', JSON.stringify(traces)],
    ]),
  }
}

/** Responses of the admin, metrics and readiness servers, and output of `gw` about the file and the running gateway. */
export async function questions(file: string, { admin, stats }: GatewayPorts): Promise<Map<string, string>> {
  const outputs = new Map<string, string>()
  for (const path of ADMIN_PATHS) {
    const bytes = await (await fetch(`http://127.0.0.1:${admin}${path}`)).arrayBuffer()
    outputs.set(path, Buffer.from(bytes).toString('latin1'))
  }
  outputs.set('/metrics', await (await fetch(`http://127.0.0.1:${stats}/metrics`)).text())
  const local = ['--local', `--admin-addr=127.0.0.1:${admin}`]
  for (const args of [
    ['validate', '-f', file],
    ['proxy', 'config', 'all', ...local],
    ['proxy', 'config', 'all', '-o', 'yaml', ...local],
    ['proxy', 'config', 'backends', '--all', ...local],
    ['proxy', 'log', ...local],
  ]) {
    const name = args.filter((arg) => arg !== file && !arg.startsWith('--')).join(' ')
    outputs.set(`gw ${name}`, printed(await gw(...args)))
  }
  return outputs
}

export function printed({ stdout, stderr }: Finished): string {
  return stdout + stderr
}

/** Names of the secrets in a text: in plain text, or in an encoding without a key. */
export function leaksIn(text: string, secrets: readonly (readonly [name: string, secret: string])[]): string[] {
  return secrets.flatMap(([name, secret]) => (spellings(secret).some((one) => text.includes(one)) ? [name] : []))
}

/** The lines of a PEM with data, one by one: a text may wrap them differently. */
export function linesOfKey(name: string, pem: string): (readonly [string, string])[] {
  return pem
    .split('\n')
    .filter((line) => line.length > 40)
    .map((line) => [name, line] as const)
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [secret, encodeURIComponent(secret), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex')]
}
