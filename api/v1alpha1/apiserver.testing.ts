// A real kube-apiserver for tests and developer scripts: starts one with the script that GW_APISERVER names, installs
// our CRDs and asks it for verdicts. Never part of the product.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dirname, '../..')
const CONNECTIONS = 8
const READY_DEADLINE_MS = 20_000

export interface Cause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

export interface Verdict {
  readonly accepted: boolean
  readonly status: number
  readonly message: string
  readonly causes: readonly Cause[]
}

export interface Resource {
  readonly plural: string
  readonly isNamespaced: boolean
}

export interface Change {
  readonly oldObject: unknown
  readonly object: unknown
}

export interface ApiServer {
  /** Installs the CRDs in these files and waits until exactly their schemas are served. */
  installCrds(files: readonly string[]): Promise<void>
  /** Creates `object` as a dry run. */
  create(resource: Resource, object: unknown): Promise<Verdict>
  /** Server-side apply, forced, as a dry run. */
  apply(resource: Resource, object: unknown): Promise<Verdict>
  /** What it serves at `path`. */
  get(path: string): Promise<unknown>
  /** Replaces `oldObject`, which is stored for the moment, by `object` as a dry run. */
  update(resource: Resource, change: Change): Promise<Verdict>
  stop(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

interface AskOptions {
  readonly body?: unknown
  readonly accept?: string
  /** Of the body; JSON when unset. */
  readonly type?: string
}

type Ask = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, options?: AskOptions) => Promise<Answer>

/** Absent where neither GW_APISERVER nor its default exists. */
export function apiServerScript(): string | undefined {
  const script = resolve(ROOT, process.env['GW_APISERVER'] ?? '../shared/cluster/apiserver')
  return existsSync(script) ? script : undefined
}

/** A port of its own for each test process; the server takes the two below and the one above it, too. */
export function testPort(): number {
  return 20_002 + (process.pid % 2000) * 4
}

export async function startApiServer(script: string, port: number): Promise<ApiServer> {
  const env = { ...process.env, GW_APISERVER_PORT: String(port) }
  const run = promisify(execFile)
  const { stdout } = await run(script, ['up'], { env })
  const kubeconfig = /KUBECONFIG=(\S+)/.exec(stdout)?.[1]
  if (kubeconfig === undefined) throw new Error(`${script} up printed no KUBECONFIG: ${stdout}`)
  const agent = new Agent({ connections: CONNECTIONS, allowH2: false, connect: { ca: certificate(kubeconfig) } })
  const ask = askWith(agent, kubeconfig)
  return {
    installCrds: async (files) => {
      await Promise.all(files.map((file) => install(ask, file)))
    },
    create: async (resource, object) => {
      return verdictOf(
        await ask('POST', `${collection(resource, object)}?dryRun=All&fieldValidation=Strict`, { body: object }),
      )
    },
    apply: async (resource, object) => {
      const path = `${collection(resource, object)}/${String(readKey(readKey(object, 'metadata'), 'name'))}`
      const options = '?dryRun=All&fieldValidation=Strict&fieldManager=test&force=true'
      return verdictOf(await ask('PATCH', `${path}${options}`, { body: object, type: 'application/apply-patch+yaml' }))
    },
    get: async (path) => (await ask('GET', path)).body,
    update: (resource, change) => update(ask, resource, change),
    stop: async () => {
      await agent.destroy()
      await run(script, ['down'], { env })
    },
  }
}

interface Crd {
  metadata: { name: string; resourceVersion?: string }
  spec: {
    group: string
    names: { plural: string }
    versions: {
      name: string
      additionalPrinterColumns?: { name: string; type: string; jsonPath: string; description?: string }[]
    }[]
  }
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** An extra column carries the hash of the schema: what the server serves shows which version of it is in force. */
async function install(ask: Ask, file: string): Promise<void> {
  const text = readFileSync(file, 'utf8')
  // Our own generated file.
  const crd = parse(text) as Crd
  const hash = createHash('sha256').update(text).digest('hex')
  const version = crd.spec.versions[0]
  if (version === undefined) throw new Error(`${file}: no version`)
  version.additionalPrinterColumns ??= []
  version.additionalPrinterColumns.push({ name: 'Hash', type: 'string', jsonPath: '.kind', description: hash })
  const { name } = crd.metadata
  const present = await ask('GET', `${CRDS}/${name}`)
  const resourceVersion = readKey(present.body['metadata'], 'resourceVersion')
  if (typeof resourceVersion === 'string') crd.metadata.resourceVersion = resourceVersion
  const answer =
    present.status === 404 ? await ask('POST', CRDS, { body: crd }) : await ask('PUT', `${CRDS}/${name}`, { body: crd })
  if (answer.status >= 300) throw new Error(`${file}: ${describe(answer)}`)
  const list = `/apis/${crd.spec.group}/${version.name}/${crd.spec.names.plural}?limit=1`
  const deadline = Date.now() + READY_DEADLINE_MS
  for (;;) {
    const table = await ask('GET', list, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    if (JSON.stringify(table.body['columnDefinitions'] ?? '').includes(hash)) return
    if (Date.now() > deadline)
      throw new Error(`${file}: not served after ${READY_DEADLINE_MS} ms: ${await state(ask, name)}`)
    await delay(20)
  }
}

async function state(ask: Ask, name: string): Promise<string> {
  const { body } = await ask('GET', `${CRDS}/${name}`)
  return JSON.stringify(readKey(body['status'], 'conditions'))
}

async function update(ask: Ask, resource: Resource, { oldObject, object }: Change): Promise<Verdict> {
  const created = await ask('POST', collection(resource, oldObject), { body: oldObject })
  if (created.status !== 201) throw new Error(`the object before the update is refused: ${describe(created)}`)
  const metadata = created.body['metadata']
  const path = `${collection(resource, oldObject)}/${String(readKey(metadata, 'name'))}`
  try {
    const resourceVersion = readKey(metadata, 'resourceVersion')
    const next = { ...toRecord(object), metadata: { ...toRecord(readKey(object, 'metadata')), resourceVersion } }
    return verdictOf(await ask('PUT', `${path}?dryRun=All&fieldValidation=Strict`, { body: next }))
  } finally {
    await ask('DELETE', path)
  }
}

function collection({ plural, isNamespaced }: Resource, object: unknown): string {
  const version = String(readKey(object, 'apiVersion'))
  const group = version.includes('/') ? `/apis/${version}` : `/api/${version}`
  if (!isNamespaced) return `${group}/${plural}`
  const namespace = readKey(readKey(object, 'metadata'), 'namespace')
  const place = typeof namespace === 'string' && namespace !== '' ? namespace : 'default'
  return `${group}/namespaces/${place}/${plural}`
}

function verdictOf(answer: Answer): Verdict {
  const causes = readKey(answer.body['details'], 'causes')
  return {
    accepted: answer.status < 300,
    status: answer.status,
    message: answer.status < 300 ? '' : String(answer.body['message']),
    // The shape of meta.v1 Status.
    causes: Array.isArray(causes) ? (causes as Cause[]) : [],
  }
}

function describe({ status, body }: Answer): string {
  return `${status} ${String(body['message'])}`
}

function certificate(kubeconfig: string): Buffer {
  const encoded = /certificate-authority-data: ([A-Za-z0-9+/=]+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1]
  return Buffer.from(encoded ?? '', 'base64')
}

function askWith(agent: Agent, kubeconfig: string): Ask {
  const text = readFileSync(kubeconfig, 'utf8')
  const server = /server: "([^"]+)"/.exec(text)?.[1] ?? ''
  const token = /token: "([^"]+)"/.exec(text)?.[1] ?? ''
  return async (method, path, { body, accept = 'application/json', type = 'application/json' } = {}) => {
    const headers = { authorization: `Bearer ${token}`, accept, 'content-type': type }
    const text = body === undefined ? null : JSON.stringify(body)
    const answer = await request(`${server}${path}`, { method, dispatcher: agent, headers, body: text })
    return { status: answer.statusCode, body: toBody(await answer.body.text()) }
  }
}

/** The server answers in plain text while a resource is not served yet. */
function toBody(text: string): Record<string, unknown> {
  return text.startsWith('{') ? toRecord(JSON.parse(text)) : { message: text.trim() }
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function readKey(value: unknown, key: string): unknown {
  return toRecord(value)[key]
}
