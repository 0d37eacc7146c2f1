// One measurement: wrk against a pinned server, and the processor time of the server.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { MeasuredRoute } from './measured-route.ts'
import type { Contender } from './contender.ts'

const run = promisify(execFile)
const START_MS_MAX = 20_000
const CLOCK_TICKS_PER_SECOND = 100

export interface Sample {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicrosPerRequest: number
  readonly rssMiB: number
  readonly errors: number
}

export interface Running {
  readonly child: ChildProcess
  stop(): Promise<void>
}

export async function start(contender: Contender, cpu: number): Promise<Running> {
  const { command, args, env = {}, port, startMsMax = START_MS_MAX } = contender
  const child = spawn('taskset', ['-c', String(cpu), command, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  const deadline = performance.now() + startMsMax
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop()
      throw new Error(`${contender.name} did not open port ${port}`)
    }
    await delay(50)
  }
  return { child, stop }
}

/** Runs while a stream of the admin server is open. */
export async function watching<T>(url: string, run: () => Promise<T>): Promise<T> {
  const gone = new AbortController()
  const response = await fetch(url, { signal: gone.signal })
  const reader = response.body?.getReader()
  try {
    // `: ready`: all workers watch for the request.
    const first = await reader?.read()
    if (!response.ok || first?.done !== false) throw new Error(`${url} answered ${response.status}`)
    return await run()
  } finally {
    gone.abort()
  }
}

export async function load(options: {
  readonly port: number
  readonly pid: number
  readonly seconds: number
  readonly connections: number
  readonly cpu: number
  /** Default: plain GET of `/`. */
  readonly route?: MeasuredRoute
  /** For the script of a POST. */
  readonly folder: string
}): Promise<Sample> {
  const { port, pid, seconds, connections, cpu, route, folder } = options
  const headers = [...(route?.headers ?? []), ...(await sessionHeader(port, route))]
  const before = processorSeconds(pid)
  const { stdout } = await run('taskset', [
    '-c',
    String(cpu),
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    ...headers.flatMap((field) => ['-H', field]),
    ...postOf(folder, route),
    `http://127.0.0.1:${port}${route?.path ?? '/'}`,
  ])
  const used = processorSeconds(pid) - before
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0)
  const socketErrors =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1) ?? []
  const failed = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0)
  return {
    requestsPerSecond: requests / seconds,
    p50Ms: latency(stdout, '50%'),
    p99Ms: latency(stdout, '99%'),
    cpuMicrosPerRequest: (used * 1e6) / Math.max(requests, 1),
    rssMiB: residentMiB(pid),
    errors: failed + socketErrors.reduce((sum, count) => sum + Number(count), 0),
  }
}

/** Of a new session with an MCP server. */
async function sessionHeader(port: number, route: MeasuredRoute | undefined): Promise<string[]> {
  if (route?.sessionFrom === undefined) return []
  const headers = (route.headers ?? []).map((field) => field.split(': ', 2) as [string, string]) // `name: value`
  const response = await fetch(`http://127.0.0.1:${port}${route.path}`, {
    method: 'POST',
    headers,
    body: route.sessionFrom,
  })
  const id = response.headers.get('mcp-session-id')
  if (id === null) throw new Error(`${route.name}: no session, but ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return [`mcp-session-id: ${id}`]
}

function postOf(folder: string, { body, bodyBytes, bodyInSession }: Partial<MeasuredRoute> = {}): string[] {
  if (body === undefined && bodyBytes === undefined) return []
  const script = join(folder, 'post.lua')
  const text = body === undefined ? `string.rep("x", ${bodyBytes})` : `[==[${body}]==]`
  const inTurn = bodyInSession === undefined ? '' : inSessions(bodyInSession)
  writeFileSync(script, `wrk.method = "POST"\nwrk.body = ${text}\n${inTurn}`)
  return ['-s', script]
}

function inSessions(body: string): string {
  return `local waiting = {}
function request()
  local id = table.remove(waiting)
  if id == nil then return wrk.format() end
  local headers = { ["mcp-session-id"] = id }
  for name, value in pairs(wrk.headers) do headers[name] = value end
  return wrk.format(nil, nil, headers, [==[${body}]==])
end
function response(status, headers)
  local id = headers["mcp-session-id"]
  if id ~= nil then table.insert(waiting, id) end
end
`
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)])
    .catch(() => false)
    .finally(() => socket.destroy())
}

function latency(output: string, percentile: string): number {
  const [, value = '0', unit = 'ms'] = new RegExp(`${percentile}\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? []
  return Number(value) * (unit === 'us' ? 0.001 : unit === 's' ? 1000 : 1)
}

/** User and system time of the process and all its children, as counted by the kernel. */
function processorSeconds(pid: number): number {
  let ticks = 0
  for (const one of [pid, ...childrenOf(pid)]) {
    const fields = statFields(one)
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / CLOCK_TICKS_PER_SECOND
}

function residentMiB(pid: number): number {
  const sizes = [pid, ...childrenOf(pid)].map((one) => {
    const status = readFileSync(`/proc/${one}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Fields of /proc/PID/stat after the name, which may have blanks: `state` is the first. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function childrenOf(pid: number): number[] {
  const direct = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => {
      try {
        return Number(statFields(one)[1]) === pid
      } catch {
        return false
      }
    })
  return direct.flatMap((one) => [one, ...childrenOf(one)])
}
