// The controller as a service account of a real API server that enforces rights: the rights of config/rbac, and a
// token.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { parseAllDocuments } from 'yaml'
import type { RealApiServer } from './real-apiserver.ts'

const RBAC = resolve(import.meta.dirname, '../../config/rbac')
const PLURALS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** The rights of config/rbac in the whole cluster. */
export function clusterWideRights(): Manifest[] {
  const files = readdirSync(RBAC).filter((file) => file !== 'kustomization.yaml')
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(RBAC, file), 'utf8')).map(
      (document) => document.toJS() as Manifest, // manifests of the repository
    ),
  )
}

export async function grant(server: RealApiServer, rights: readonly Manifest[]): Promise<void> {
  for (const manifest of rights) await server.apply(pathOf(manifest), manifest)
}

/** For clients that act as the controller. */
export async function accountConfig(server: RealApiServer): Promise<KubeConfig> {
  const { status, body } = await server.send({
    method: 'POST',
    path: '/api/v1/namespaces/gw-system/serviceaccounts/gw-controller/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  })
  const { token } = (body as { status?: { token?: string } }).status ?? {} // a TokenRequest
  const cluster = server.config.getCurrentCluster()
  if (token === undefined || cluster === null) throw new Error(`no token, or no cluster: ${status}`)
  const config = new KubeConfig()
  config.loadFromClusterAndUser(cluster, { name: 'controller', token })
  return config
}

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const place = namespace === undefined ? root : `${root}/namespaces/${namespace}`
  return `${place}/${PLURALS[kind]}/${name}`
}
