// Images of the Go programs that test/mesh/run.sh builds: one program each, on an empty base. Nothing is pulled.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { archive } from '../../../hack/image/root.ts'
import { loadImages } from '../../e2e/cluster/kind-images.ts'

const IMPORT_MS = 120_000

/** Imports the program as an image and copies it to the nodes of the test cluster. Returns the name of the image. */
export async function loadProgram(program: string): Promise<string> {
  const cluster = process.env['GW_E2E_CLUSTER'] ?? ''
  if (cluster === '') throw new Error('the cluster of KUBECONFIG is not of kind: images cannot be copied to its nodes')
  const image = imageOf(program)
  await loadImages(cluster, [image])
  return image
}

/** The tag is a hash of the program. */
function imageOf(program: string): string {
  const key = createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 12)
  const name = `gw.dev/mesh-${basename(program)}:${key}`
  if (spawnSync('docker', ['image', 'inspect', name], { stdio: 'ignore' }).status === 0) return name
  const root = resolve(import.meta.dirname, `../../../.cache/mesh/root-${process.pid}`)
  try {
    mkdirSync(join(root, 'tmp'), { recursive: true })
    chmodSync(join(root, 'tmp'), 0o1777)
    copyFileSync(program, join(root, 'program'))
    archive(root, `${root}.tar`, 0)
    const args = ['import', '--change', 'ENTRYPOINT ["/program"]', `${root}.tar`, name]
    execFileSync('docker', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: IMPORT_MS })
  } finally {
    rmSync(root, { recursive: true, force: true })
    rmSync(`${root}.tar`, { force: true })
  }
  return name
}
