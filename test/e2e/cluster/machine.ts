// The tools of this machine for cluster tests: an engine, an image for nodes, kubectl.
import { accessSync, constants } from 'node:fs'
import { execFileSync, spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

/** The default of kind v0.33.0; it has to be pulled. */
const PUBLIC_NODE_IMAGE = 'kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5'
/** The image that the scripts beside the repository build. */
const BUILT_NODE_IMAGE = 'gw-node:v1.34.4'

const repository = resolve(import.meta.dirname, '../../..')
const scripts = process.env['GW_CLUSTER_SCRIPTS'] ?? resolve(repository, '../shared/cluster')

/** Whether a cluster is set, or this machine can run one. */
export function clusterPossible(): boolean {
  return given() || executable(buildNode()) || dockerAnswers()
}

function given(): boolean {
  return (process.env['KUBECONFIG'] ?? '') !== ''
}

/** Name of an image for nodes. If the scripts exist, they start an engine and build it if necessary. */
export function nodeImage(): string {
  const wanted = process.env['GW_KIND_NODE_IMAGE'] ?? ''
  if (!executable(buildNode())) return wanted === '' ? PUBLIC_NODE_IMAGE : wanted
  execFileSync(buildNode(), { stdio: ['ignore', 'inherit', 'inherit'] })
  return wanted === '' ? BUILT_NODE_IMAGE : wanted
}

/** Adds `kubectl` to PATH. */
export function findKubectl(): void {
  const cache = process.env['GW_CLUSTER_CACHE'] ?? join(homedir(), '.cache/gw-cluster')
  // At the end, because the folder also has other programs, such as node.
  process.env['PATH'] = [process.env['PATH'], join(cache, 'bin')].join(delimiter)
  if (spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status !== 0) {
    throw new Error('kubectl is not there: install it')
  }
}

function buildNode(): string {
  return join(scripts, 'node-image')
}

function dockerAnswers(): boolean {
  return spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
