// Samples on a real `gw run`: a process that reads a file of manifests, in which each sample replaces the previous one,
// with the ports of listeners and upstreams replaced.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { LoadedSource } from '#cli/source.ts'
import type { Condition } from '#operator/translate/object-status.ts'
import type { TraceEvent } from '#proxy/trace/trace-writer.ts'
import { watchTrace } from '#proxy/trace/watcher.testing.ts'
import { freePort } from '#test/ports.ts'
import { ask, type Answer, type Question } from './ask.ts'
import type { Echo } from './echo.ts'
import type { SampleProxy } from './process.ts'
import { SAMPLE_PORTS, SAMPLE_SOCKET, type UpstreamName, type Upstreams } from './upstreams.ts'

export const SAMPLES = join(import.meta.dirname, '..', '..', '..', 'config', 'samples')

/** Ports of the listener of a sample, and of a second one. */
const LISTENER_PORTS = ['8080', '8443']
const OTHER_PORTS = ['8090', '9443']

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
  /** The ports used instead of 8090 and 9443. */
  readonly otherPort: number
  readonly upstreams: Upstreams
  readonly source: LoadedSource
  /** Objects of the sample. */
  readonly objects: readonly SampleObject[]
  ask(path: string, question?: Question): Promise<Answer>
  /** Response of an echo server, which must be 200. */
  echo(path: string, question?: Question): Promise<Echo>
  /** The trace of a request. */
  trace(path: string, question?: Question): Promise<readonly TraceEvent[]>
  policies(): Promise<readonly DumpedPolicy[]>
  /** All of `/config_dump`. */
  dump(): Promise<unknown>
  /** All conditions of an object, for all its parents. */
  conditions(kind: string, name: string): readonly Condition[]
  /** The text of a scrape. */
  metrics(): Promise<string>
  /** The output of the proxy since this sample is active. */
  log(): string
}

export interface SampleInput {
  readonly sample: string
  readonly upstreams: Upstreams
  readonly on: SampleProxy
  readonly change?: ((manifests: string) => string) | undefined
}

export async function applySample({ sample, upstreams, on, change }: SampleInput): Promise<SampleGateway> {
  const original = readFileSync(join(SAMPLES, sample), 'utf8')
  const text = change === undefined ? original : change(original)
  const [port, otherPort] = [await freePort(), await freePort()]
  const { source, log } = await on.serve(withPorts(text, { port, otherPort }, upstreams), port)
  const url = `http://127.0.0.1:${port}`
  const configDump = async (): Promise<unknown> => JSON.parse((await ask(`${on.admin}/config_dump`)).text)
  return {
    url,
    port,
    otherPort,
    upstreams,
    source,
    objects: objectsOf(text),
    ask: (path, question) => ask(url + path, question),
    async echo(path, question) {
      const { status, text: body } = await ask(url + path, question)
      if (status !== 200) throw new Error(`${path} answered ${status}: ${body}\n${log()}`)
      return JSON.parse(body) as Echo // the echo server of these tests writes it
    },
    async trace(path, question) {
      const watcher = await watchTrace({ adminPort: Number(new URL(on.admin).port) })
      await ask(url + path, question)
      return watcher.ended
    },
    async policies() {
      return ((await configDump()) as { policies: DumpedPolicy[] }).policies // api/admin describes it
    },
    dump: configDump,
    metrics: async () => (await ask(`${on.stats}/metrics`)).text,
    conditions: (kind, name) => conditionsOf(source, kind, name),
    log,
  }
}

function withPorts(
  text: string,
  listeners: { readonly port: number; readonly otherPort: number },
  { ports, socketPath }: Upstreams,
): string {
  // The table has exactly these names.
  const names = Object.keys(SAMPLE_PORTS) as UpstreamName[]
  const byPort = new Map<string, number>(names.map((name) => [String(SAMPLE_PORTS[name]), ports[name]]))
  for (const listener of LISTENER_PORTS) byPort.set(listener, listeners.port)
  for (const listener of OTHER_PORTS) byPort.set(listener, listeners.otherPort)
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
