// The image of the reaper, built from the Node of this repository: nothing is pulled. It is built again only if the
// program or Node changed.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { archive, layBase } from '../../../hack/image/root.ts'
import { ownRuntime } from '../../../hack/image/runtime.ts'

const IMAGE = 'gw.dev/gw-reaper'
const PROGRAM = resolve(import.meta.dirname, 'reaper.ts')
const ENTRYPOINT = ['/usr/local/bin/node', '--disable-warning=ExperimentalWarning', '/reaper.ts']

/** Name of the image. */
export function reaperImage(): string {
  const key = createHash('sha256').update(readFileSync(PROGRAM)).update(process.version).digest('hex').slice(0, 12)
  const name = `${IMAGE}:${key}`
  if (spawnSync('docker', ['image', 'inspect', name], { stdio: 'ignore' }).status !== 0) build(name)
  return name
}

function build(name: string): void {
  const root = resolve(import.meta.dirname, `../../../.cache/reaper-${process.pid}`)
  const file = `${root}.tar`
  try {
    layBase({ root, runtime: ownRuntime() })
    copyFileSync(PROGRAM, join(root, 'reaper.ts'))
    archive(root, file, 0)
    const change = `ENTRYPOINT ${JSON.stringify(ENTRYPOINT)}`
    execFileSync('docker', ['import', '--change', change, file, name], { stdio: ['ignore', 'ignore', 'pipe'] })
  } finally {
    rmSync(root, { recursive: true, force: true })
    rmSync(file, { force: true })
  }
}
