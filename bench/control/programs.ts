// The shipped programs as separate processes, and their cost: memory and processor time as counted by the kernel, calls
// to the API server as counted by the controller.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readDockerfile } from '../../hack/release/dockerfile.ts'
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import { until } from '../../test/wait.ts'
import { GATEWAY, NAMESPACE } from './cluster.ts'

const START_MS = 60_000
const QUIET_MS_MAX = 600_000
/** Statuses and acknowledgements after a change are part of its cost. */
const QUIET_MS = 400
/** A scrape costs the controller as much as some changes do. */
const QUIET_CHECK_MS = 100
const OUTPUT_LINES_MAX = 40
const ANY_PORT = '127.0.0.1:0'

export interface Program {
  readonly pid: number
  /** The value of a field of the log line of the start. */
  readonly started: (field: string) => number
  readonly stop: () => Promise<void>
}

export interface ProgramOptions {
  readonly name: string
  /** Arguments after `node`. */
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

export async function start({ name, args, environment }: ProgramOptions): Promise<Program> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines = outputOf(child)
  const startLine = (): string | undefined => lines.first.find((line) => /started/.test(line))
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  try {
    await until(`${name} starts`, () => startLine() !== undefined || child.exitCode !== null, START_MS)
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
  } catch (error) {
    console.error(lines.last.join('\n'))
    await stop()
    throw error
  }
  return {
    pid: child.pid ?? 0,
    started: (field) => Number(new RegExp(`\\b${field}[\\\\"]*[=:](\\d+)`).exec(startLine() ?? '')?.[1] ?? 0),
    stop,
  }
}

function outputOf(child: ChildProcess): { readonly first: string[]; readonly last: string[] } {
  const first: string[] = []
  const last: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const lines = text.split('\n').filter((line) => line !== '')
      if (first.length < OUTPUT_LINES_MAX) first.push(...lines)
      last.push(...lines)
      last.splice(0, Math.max(last.length - OUTPUT_LINES_MAX, 0))
      if (process.env['GW_BENCH_LOG'] !== undefined) process.stderr.write(text)
    })
  }
  return { first, last }
}

/** What this image sets beyond the base of all images, whose files are not here. */
function imageVariables(image: 'controller' | 'proxy'): Record<string, string> {
  const text = readFileSync(join(import.meta.dirname, '../../images/Dockerfile'), 'utf8')
  const ofBase = new Set(readDockerfile(text, 'base', {}).env)
  const own = readDockerfile(text, image, {}).env.filter((pair) => !ofBase.has(pair))
  return Object.fromEntries(own.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

export function controller(command: string, server: RealApiServer): Promise<Program> {
  return start({
    name: 'gw controller',
    args: [command, 'controller'],
    environment: {
      ...imageVariables('controller'),
      KUBECONFIG: server.kubeconfig,
      POD_NAME: 'bench-controller',
      GW_HEALTH_ADDR: ANY_PORT,
      GW_METRICS_ADDR: ANY_PORT,
      GW_ADMIN_ADDR: ANY_PORT,
    },
  })
}

/** The environment in which a proxy finds the API server. */
export function apiServerVariables(server: RealApiServer, folder: string): Record<string, string> {
  const cluster = server.config.getCurrentCluster()
  const [ca, token] = [join(folder, 'ca.crt'), join(folder, 'token')]
  writeFileSync(ca, Buffer.from(cluster?.caData ?? '', 'base64'))
  writeFileSync(token, server.config.getCurrentUser()?.token ?? '')
  return { GW_API_SERVER: cluster?.server ?? '', GW_API_CA_FILE: ca, GW_API_TOKEN_FILE: token }
}

export interface ProxyPlace {
  readonly address: string
  readonly pod: string
}

const FIRST_PROXY: ProxyPlace = { address: '127.0.0.1', pod: `${GATEWAY}-1` }
/** On the same ports. */
export const SECOND_PROXY: ProxyPlace = { address: '127.0.0.2', pod: `${GATEWAY}-2` }

export function proxy(
  command: string,
  server: RealApiServer,
  folder: string,
  { address, pod }: ProxyPlace = FIRST_PROXY,
): Promise<Program> {
  return start({
    name: 'gw proxy',
    args: [command, 'proxy', 'serve', '--listen-address', address, '--mount', join(folder, 'mount')],
    environment: {
      ...imageVariables('proxy'),
      ...apiServerVariables(server, folder),
      NAMESPACE,
      GATEWAY,
      POD_NAME: pod,
      WORKER_THREADS: '1',
      ADMIN_ADDR: ANY_PORT,
      STATS_ADDR: ANY_PORT,
      READINESS_ADDR: ANY_PORT,
    },
  })
}

export interface Memory {
  readonly rssMiB: number
  readonly peakMiB: number
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  return { rssMiB: read('VmRSS'), peakMiB: read('VmHWM') }
}

const MS_PER_TICK = 10

/** User and system time. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/** Calls and bytes by kind, without those of the Lease, which is renewed all the time. */
export type Writes = ReadonlyMap<string, { readonly calls: number; readonly bytes: number }>

const LINE = /^gw_controller_api_(writes|write_bytes)_total\{kind="([^"]+)",verb="[^"]+"\} (\d+)$/

export async function writesOf(operator: Program): Promise<Writes> {
  const found = new Map<string, { calls: number; bytes: number }>()
  for (const line of await metricsOf(operator)) {
    const [, what, kind = '', value] = LINE.exec(line) ?? []
    if (what === undefined || kind === 'Lease') continue
    const known = found.get(kind) ?? { calls: 0, bytes: 0 }
    found.set(kind, known)
    known[what === 'writes' ? 'calls' : 'bytes'] += Number(value)
  }
  return found
}

/** Milliseconds since the start, as counted by the controller. */
export interface Worked {
  readonly translating: number
  /** Includes the wait for the response of the API server. */
  readonly publishing: number
}

export async function workedOf(operator: Program): Promise<Worked> {
  const lines = await metricsOf(operator)
  const sum = (start: string): number => {
    const found = lines.filter((line) => line.startsWith(start)).map((line) => Number(line.split(' ').at(-1)))
    return found.reduce((all, seconds) => all + seconds, 0) * 1000
  }
  return {
    translating: sum('gw_controller_translation_duration_seconds_sum'),
    publishing: sum('gw_controller_reconcile_duration_seconds_sum{controller="publisher"'),
  }
}

async function metricsOf({ started }: Program): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${started('metrics')}/metrics`)
  return (await response.text()).split('\n')
}

export function writesBetween(before: Writes, after: Writes): Writes {
  const difference = [...after].map(([kind, { calls, bytes }]) => {
    const known = before.get(kind) ?? { calls: 0, bytes: 0 }
    return [kind, { calls: calls - known.calls, bytes: bytes - known.bytes }] as const
  })
  return new Map(difference.filter(([, { calls }]) => calls > 0))
}

/** Waits until the controller has written nothing for `quietMs`. */
export async function quiet(operator: Program, quietMs = QUIET_MS): Promise<void> {
  let known = total(await writesOf(operator))
  // Not milliseconds: a controller that collects garbage for a second has not finished.
  let unchanged = 0
  await until(
    'the controller is quiet',
    async () => {
      await delay(QUIET_CHECK_MS)
      const now = total(await writesOf(operator))
      unchanged = now === known ? unchanged + 1 : 0
      known = now
      return unchanged >= quietMs / QUIET_CHECK_MS
    },
    QUIET_MS_MAX,
  )
}

function total(writes: Writes): number {
  return [...writes.values()].reduce((sum, { calls }) => sum + calls, 0)
}
