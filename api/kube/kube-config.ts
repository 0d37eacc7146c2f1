// Which cluster to use: that of KUBECONFIG, else of ~/.kube/config, else of the pod. An unusable file gives a message
// for users, never with a part of the file: it may contain tokens.
import { KubeConfig } from '@kubernetes/client-node'

export type KubeConfigOutcome = { readonly config: KubeConfig } | { readonly problem: string }

/** The address that the library uses if it found no configuration. */
const NOWHERE = { name: 'cluster', server: 'http://localhost:8080' } as const

export function loadKubeConfig(): KubeConfigOutcome {
  const config = new KubeConfig()
  try {
    config.loadFromDefault()
  } catch (error) {
    return { problem: `KUBECONFIG: ${firstLine(error)}` }
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null) return { problem: 'KUBECONFIG: no current context; set one with kubectl config use-context …' }
  const { name, server, skipTLSVerify } = cluster
  if (name === NOWHERE.name && server === NOWHERE.server) {
    return {
      problem:
        'no cluster configured; set KUBECONFIG, create ~/.kube/config, or run in a pod with a service account token',
    }
  }
  if (!server.startsWith('https:') && !skipTLSVerify) {
    return { problem: `KUBECONFIG: the server of cluster ${name} must be an https URL` }
  }
  if (!URL.canParse(server)) return { problem: `KUBECONFIG: the server of cluster ${name} must be an https URL` }
  return { config }
}

/** Parsers show lines of the file after it. */
function firstLine(error: unknown): string {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n')
  return line
}
