// The cluster of a test run with this build in it: that of KUBECONFIG, else one for this run.
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { loadImages } from './kind-images.ts'
import { findKubectl, nodeImage } from './machine.ts'
import { type OwnCluster, startOwnCluster } from './own-cluster.ts'

const COMMAND_MS = 600_000
const repository = resolve(import.meta.dirname, '../../..')
const KUBECONFIG = resolve(repository, '.cache/e2e/kubeconfig')
const KIND = 'kind-'

export interface UsedCluster {
  /** Whether it was started for this run. */
  readonly own: boolean
  /** Ends it if it was started for this run. */
  stop(): Promise<void>
}

/** Sets the environment of the tests: KUBECONFIG, PATH, IMAGE_TAG and all variables with the prefix GW_E2E. */
export async function useCluster(): Promise<UsedCluster> {
  const own = (process.env['KUBECONFIG'] ?? '') === ''
  const found = own ? await startedCluster() : await givenCluster()
  const { name, images } = found
  if (images.length > 0) {
    await loadImages(name, images)
    process.env['IMAGE_TAG'] = images[0]?.split(':').at(-1) ?? ''
  }
  process.env['GW_E2E_REGISTRY'] = registry()
  process.env['GW_E2E_TAG'] = process.env['IMAGE_TAG'] ?? ''
  process.env['GW_E2E_CLUSTER'] = name
  await run('hack/deploy.sh', 'up')
  say(`deployed ${process.env['GW_E2E_TAG'] === '' ? 'as config/default says' : process.env['GW_E2E_TAG']}`)
  return { own, stop: () => found.stop() }
}

interface Found {
  /** The name for kind; undefined if the cluster is not of kind. */
  readonly name: string
  /** Tag of this build. */
  readonly images: readonly string[]
  stop(): Promise<void>
}

/** A cluster that is not of kind has its images from a registry: images cannot be copied to its nodes. */
async function givenCluster(): Promise<Found> {
  findKubectl()
  const context = (await run('kubectl', 'config', 'current-context')).trim()
  const name = context.startsWith(KIND) ? context.slice(KIND.length) : ''
  return { name, images: name === '' ? [] : await buildImages(), stop: () => Promise.resolve() }
}

async function startedCluster(): Promise<Found> {
  const image = nodeImage()
  findKubectl()
  const [cluster, images] = await Promise.all([start(image), buildImages()])
  const stop = async (): Promise<void> => {
    await cluster.stop()
    rmSync(KUBECONFIG, { force: true })
  }
  return { name: cluster.name, images, stop }
}

async function start(image: string): Promise<OwnCluster> {
  const begin = performance.now()
  const cluster = await startOwnCluster(image)
  mkdirSync(dirname(KUBECONFIG), { recursive: true })
  writeFileSync(KUBECONFIG, cluster.kubeconfig, { mode: 0o600 })
  process.env['KUBECONFIG'] = KUBECONFIG
  say(`${cluster.name} started in ${Math.round((performance.now() - begin) / 1000)} s; KUBECONFIG=${KUBECONFIG}`)
  return cluster
}

/** Names of the images, whose tag is a hash of their content. */
async function buildImages(): Promise<string[]> {
  await run('make', '--no-print-directory', 'build')
  const options = ['--demo', '--tag', 'content', '--registry', registry()]
  const names = await run(process.execPath, 'hack/image/main.ts', ...options)
  return names.split('\n').filter((name) => name !== '')
}

function registry(): string {
  const given = process.env['IMAGE_REGISTRY'] ?? ''
  return given === '' ? 'gw.dev' : given
}

/** Standard output. @throws {Error} with standard error when it fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: repository, timeout: COMMAND_MS, maxBuffer: 64 * 1024 * 1024 }
  return (await promisify(execFile)(program, [...args], options)).stdout
}

function say(text: string): void {
  console.error(`cluster tests: ${text}`)
}
