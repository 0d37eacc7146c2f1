// A real API server for tests, with the CRDs of Gateway API and ours: started by the script of GW_APISERVER, or by the
// one beside the project. Tests are skipped without a script.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { KubeConfig } from '@kubernetes/client-node'
import { parseAllDocuments } from 'yaml'
import { createTransport, type KubeRequest, type KubeResponse } from '#operator/kube/transport.ts'
import { apiServerScript } from '../../api/v1alpha1/apiserver.testing.ts'
import { until } from '../wait.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CRD_FOLDERS = ['config/crd', '.cache/gateway-api/standard']
const READY_MS = 60_000

export interface RealApiServer {
  readonly kubeconfig: string
  readonly config: KubeConfig
  /** Its store, over HTTP. */
  readonly store: string
  send(request: KubeRequest): Promise<KubeResponse>
  /** Server-side apply; throws if it is rejected. */
  apply(path: string, object: unknown): Promise<void>
  stop(): Promise<void>
}

/** Why it cannot be started; undefined: it can. */
export function missing(): string | undefined {
  if (apiServerScript() === undefined) return 'no API server (GW_APISERVER)'
  return existsSync(join(ROOT, '.cache/gateway-api/standard')) ? undefined : 'no CRDs of Gateway API (make generate)'
}

export async function startRealApiServer(port: number): Promise<RealApiServer> {
  const script = apiServerScript() ?? ''
  const env = { ...process.env, GW_APISERVER_PORT: String(port) }
  const run = promisify(execFile)
  const { stdout } = await run(script, ['up'], { env })
  const kubeconfig = /KUBECONFIG=(\S+)/.exec(stdout)?.[1] ?? ''
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const transport = createTransport(config)
  const send = (request: KubeRequest): Promise<KubeResponse> => transport.send(request, AbortSignal.timeout(READY_MS))
  const apply = async (path: string, object: unknown): Promise<void> => {
    const contentType = 'application/apply-patch+yaml'
    const answer = await send({
      method: 'PATCH',
      path: `${path}?fieldManager=test&force=true`,
      body: object,
      contentType,
    })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  for (const crd of crds()) await apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${nameOf(crd)}`, crd)
  for (const crd of crds()) await until(`${nameOf(crd)} is served`, async () => isServed(send, crd), READY_MS)
  return {
    kubeconfig,
    config,
    // The script puts it there.
    store: `http://127.0.0.1:${port - 1}`,
    send,
    apply,
    stop: async () => {
      transport.close()
      await run(script, ['down'], { env })
    },
  }
}

interface Crd {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: { name: string }[]
  }
}

function crds(): Crd[] {
  const files = CRD_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => join(ROOT, folder, file)),
  )
  const objects = files.flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as Crd | null),
  )
  return objects.filter((one) => one !== null).filter(({ kind }) => kind === 'CustomResourceDefinition')
}

function nameOf({ metadata }: Crd): string {
  return metadata.name
}

async function isServed(send: RealApiServer['send'], { spec }: Crd): Promise<boolean> {
  const path = `/apis/${spec.group}/${spec.versions[0]?.name}/${spec.names.plural}?limit=1`
  return (await send({ method: 'GET', path })).status === 200
}
