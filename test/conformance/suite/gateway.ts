// Samples on a real proxy: manifests go the way of `gw run`, with the ports of listeners and upstreams replaced. One
// proxy serves one sample after the other, as after a change of the files.
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { loadSource, type LoadedSource } from '#cli/source.ts'
import type { Condition } from '#operator/status/condition.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { freePort } from '#test/ports.ts'
import { ON_LOOPBACK } from '#test/proxy.ts'
import { ask, type Answer, type Question } from './ask.ts'
import type { Echo } from './echo.ts'
import { SAMPLE_PORTS, SAMPLE_SOCKET, type UpstreamName, type Upstreams } from './upstreams.ts'

export const SAMPLES = join(import.meta.dirname, '..', '..', '..', 'config', 'samples')

const NOTHING: RenderedConfig = {
  version: 1,
  binds: [],
  listeners: [],
  routes: [],
  tcpRoutes: [],
  backends: [],
  policies: [],
  services: [],
  workloads: [],
}

/** Port of every listener of a sample. */
const LISTENER_PORT = 8080

export interface SampleObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

export interface DumpedPolicy {
  readonly key: string
  readonly name: { readonly kind: string; readonly name: string }
  readonly policy: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface SampleGateway {
  readonly url: string
  readonly port: number
  readonly upstreams: Upstreams
  readonly source: LoadedSource
  /** Objects of the sample. */
  readonly objects: readonly SampleObject[]
  ask(path: string, question?: Question): Promise<Answer>
  /** Of an echo server, which must answer 200. */
  echo(path: string, question?: Question): Promise<Echo>
  policies(): Promise<readonly DumpedPolicy[]>
  /** All of `/config_dump`. */
  dump(): Promise<unknown>
  /** All conditions an object has, whoever its parents are. */
  conditions(kind: string, name: string): readonly Condition[]
  /** A scrape. */
  metrics(): Promise<string>
  /** What the proxy has written since this sample is in force. */
  log(): string
}

export interface SampleProxy {
  readonly proxy: RunningProxy
  readonly folder: string
  readonly logPath: string
  stop(): Promise<void>
}

export interface SampleInput {
  readonly sample: string
  readonly upstreams: Upstreams
  readonly on: SampleProxy
  readonly change?: ((manifests: string) => string) | undefined
}

export async function startSampleProxy(): Promise<SampleProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-conformance-'))
  const logPath = join(folder, 'log')
  const logFd = openSync(logPath, 'a')
  const proxy = await startProxy({
    ...ON_LOOPBACK,
    // For samples that say where endpoints are.
    place: { node: 'node-1' },
    logFd,
    logFormat: 'text',
    logLevel: 'info',
    dynamicForwardAllow: ['127.0.0.1'],
    accessLog: true,
  })
  return {
    proxy,
    folder,
    logPath,
    async stop() {
      await proxy.stop({ isForced: true })
      closeSync(logFd)
      rmSync(folder, { recursive: true })
    },
  }
}

export async function applySample({ sample, upstreams, on, change }: SampleInput): Promise<SampleGateway> {
  const { proxy, folder, logPath } = on
  const original = readFileSync(join(SAMPLES, sample), 'utf8')
  const text = change === undefined ? original : change(original)
  const port = await freePort()
  const file = join(folder, sample)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, withPorts(text, port, upstreams))
  const source = await loadSource(file)
  if ('problem' in source) throw new Error(source.problem)
  if (source.rendered === undefined) throw new Error(source.problems.map(({ message }) => message).join('\n'))
  const { config, secrets } = source.rendered
  // Rate limits are kept over a change: without a configuration in between one case would use up those of the next.
  await proxy.apply(NOTHING, { version: 1, secrets: [] })
  const logStart = statSync(logPath).size
  const applied = await proxy.apply(config, secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
  const url = `http://127.0.0.1:${port}`
  const admin = `http://127.0.0.1:${proxy.ports.admin}`
  const log = (): string => readFileSync(logPath).subarray(logStart).toString('utf8')
  return {
    url,
    port,
    upstreams,
    source,
    objects: objectsOf(text),
    ask: (path, question) => ask(url + path, question),
    async echo(path, question) {
      const { status, text: body } = await ask(url + path, question)
      if (status !== 200) throw new Error(`${path} answered ${status}: ${body}\n${log()}`)
      return JSON.parse(body) as Echo // what the echo server of these tests writes
    },
    async policies() {
      const { text: dump } = await ask(`${admin}/config_dump`)
      return (JSON.parse(dump) as { policies: DumpedPolicy[] }).policies // api/admin describes it
    },
    dump: async () => JSON.parse((await ask(`${admin}/config_dump`)).text),
    metrics: async () => (await ask(`http://127.0.0.1:${proxy.ports.stats}/metrics`)).text,
    conditions: (kind, name) => conditionsOf(source, kind, name),
    log,
  }
}

function withPorts(text: string, listenerPort: number, { ports, socketPath }: Upstreams): string {
  // The table has exactly these names.
  const names = Object.keys(SAMPLE_PORTS) as UpstreamName[]
  const byPort = new Map<string, number>(names.map((name) => [String(SAMPLE_PORTS[name]), ports[name]]))
  byPort.set(String(LISTENER_PORT), listenerPort)
  return text
    .replaceAll(SAMPLE_SOCKET, () => socketPath)
    .replaceAll(/\b\d{4,5}\b/g, (digits) => String(byPort.get(digits) ?? digits))
}

function objectsOf(text: string): SampleObject[] {
  // Manifests; loadSource has checked their shape.
  return parseAllDocuments(text).map((document) => document.toJS() as SampleObject)
}

function conditionsOf({ translation }: LoadedSource, kind: string, name: string): Condition[] {
  const object = translation?.statuses.find((one) => one.kind === kind && one.name === name)
  if (object === undefined) throw new Error(`${kind} ${name} has no status`)
  const { status } = object
  if ('ancestors' in status) return status.ancestors.flatMap(({ conditions }) => conditions)
  if ('parents' in status) return status.parents.flatMap(({ conditions }) => conditions)
  const listeners = 'listeners' in status ? status.listeners.flatMap(({ conditions }) => conditions) : []
  return [...status.conditions, ...listeners]
}
