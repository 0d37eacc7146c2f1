// Which cluster to use: that of KUBECONFIG, else of ~/.kube/config, else of the pod. An unusable file gives a message
// for users, never with a part of the file: it may contain tokens.
import { KubeConfig } from '@kubernetes/client-node'

export type KubeConfigOutcome = { readonly config: KubeConfig } | { readonly problem: string }

/** What a user chose; a member that is unset has the default of kubectl. */
export interface KubeConfigChoice {
  /** Path of a file in place of KUBECONFIG. */
  readonly kubeconfig?: string
  /** Name of a context in place of the current one. */
  readonly context?: string
}

/** The address that the library uses if it found no configuration. */
const NOWHERE = { name: 'cluster', server: 'http://localhost:8080' } as const

export function loadKubeConfig({ kubeconfig, context }: KubeConfigChoice = {}): KubeConfigOutcome {
  const config = new KubeConfig()
  const from = kubeconfig === undefined ? 'KUBECONFIG' : `--kubeconfig ${kubeconfig}`
  try {
    if (kubeconfig === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfig)
  } catch (error) {
    return { problem: `${from}: ${unreadable(error, from)}` }
  }
  if (context !== undefined) {
    const names = config.getContexts().map(({ name }) => name)
    if (!names.includes(context)) return { problem: `--context ${context}: ${from} has ${contextList(names)}` }
    config.setCurrentContext(context)
  }
  const problem = clusterProblem(config, from)
  return problem === undefined ? { config } : { problem }
}

function clusterProblem(config: KubeConfig, from: string): string | undefined {
  const cluster = config.getCurrentCluster()
  if (cluster === null) return `${from}: no current context; set one with kubectl config use-context …`
  const { name, server, skipTLSVerify } = cluster
  if (name === NOWHERE.name && server === NOWHERE.server) {
    return 'no cluster configured; set KUBECONFIG, create ~/.kube/config, or run in a pod with a service account token'
  }
  const isAllowed = URL.canParse(server) && (server.startsWith('https:') || skipTLSVerify)
  return isAllowed ? undefined : `${from}: the server of cluster ${name} must be an https URL`
}

function contextList(names: readonly string[]): string {
  return names.length === 0 ? 'no contexts' : `the contexts ${names.slice(0, CONTEXTS_SHOWN_MAX).join(', ')}`
}

/** As many as fit in a message. */
const CONTEXTS_SHOWN_MAX = 20

/** A part of KUBECONFIG, or the file that `from` names. */
function unreadable(error: unknown, from: string): string {
  const { code, path, name }: { code?: unknown; path?: unknown; name?: unknown } = Object(error)
  const file = typeof path === 'string' && !from.endsWith(path) ? path : 'the file'
  if (code === 'ENOENT') return `${file} does not exist; name another one`
  if (code === 'EACCES') return `${file} cannot be read: permission denied`
  return name === 'YAMLException' ? `${file} is not valid YAML: ${firstLine(error)}` : firstLine(error)
}

/** Parsers show lines of the file after it. */
function firstLine(error: unknown): string {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n')
  return line
}
