// Copies images of this machine's engine to the nodes of a cluster of kind, or of a similar one.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

const COMMAND_MS = 300_000
const CTR = ['ctr', '--namespace=k8s.io', 'images']

async function docker(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('docker', [...args], { timeout: COMMAND_MS })).stdout
}

async function nodesOf(cluster: string): Promise<string[]> {
  const names = await docker('ps', '--filter', `label=io.x-k8s.kind.cluster=${cluster}`, '--format', '{{.Names}}')
  const nodes = names.split('\n').filter((name) => name !== '')
  if (nodes.length === 0) throw new Error(`docker has no nodes of the cluster ${cluster}`)
  return nodes
}

/** Copies images to nodes that do not have them yet. Their tags must identify their content. */
export async function loadImages(cluster: string, images: readonly string[]): Promise<void> {
  for (const node of await nodesOf(cluster)) {
    const present = new Set((await docker('exec', node, ...CTR, 'ls', '-q')).split('\n'))
    const missing = images.filter((image) => !present.has(image))
    if (missing.length > 0) await copyTo(node, missing)
  }
}

async function copyTo(node: string, images: readonly string[]): Promise<void> {
  const from = spawn('docker', ['save', ...images], { stdio: ['ignore', 'pipe', 'inherit'], timeout: COMMAND_MS })
  const into = ['exec', '-i', node, ...CTR, 'import', '--snapshotter=overlayfs', '-']
  const to = spawn('docker', into, { stdio: ['pipe', 'ignore', 'inherit'], timeout: COMMAND_MS })
  await Promise.all([pipeline(from.stdout, to.stdin), succeeded(from), succeeded(to)])
}

function succeeded(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`))
    })
  })
}

/** Adds another name to an image on all nodes. */
export async function nameImage(cluster: string, image: string, name: string): Promise<void> {
  for (const node of await nodesOf(cluster)) await docker('exec', node, ...CTR, 'tag', '--force', image, name)
}
