// Names of the images that run.sh built.
import { execFileSync } from 'node:child_process'

const registry = process.env['GW_E2E_REGISTRY'] ?? 'gw.dev'
const tag = process.env['GW_E2E_TAG'] ?? ''

/** The image as the samples name it. */
export const SAMPLE_IMAGE = 'gw.dev/gw-demo:v0.1.0'

export function proxyImage(): string {
  return `${registry}/gw:${tagOrVersion()}`
}

export function demoImage(): string {
  return `${registry}/gw-demo:${tagOrVersion()}`
}

function tagOrVersion(): string {
  return tag === '' ? 'v0.1.0' : tag
}

/** The proxy's image under another tag, on all nodes; undefined where the cluster is not of kind. */
export function secondProxyTag(): string | undefined {
  const cluster = process.env['GW_E2E_CLUSTER'] ?? ''
  if (cluster === '') return undefined
  const other = `${tagOrVersion()}-next`
  loadAs(cluster, proxyImage(), `${registry}/gw:${other}`)
  return other
}

/** Puts the demo image on all nodes under the name of the samples; false where the cluster is not of kind. */
export function loadSampleImage(): boolean {
  const cluster = process.env['GW_E2E_CLUSTER'] ?? ''
  if (cluster !== '') loadAs(cluster, demoImage(), SAMPLE_IMAGE)
  return cluster !== ''
}

function loadAs(cluster: string, image: string, name: string): void {
  if (image !== name) execFileSync('docker', ['tag', image, name])
  execFileSync('kind', ['load', 'docker-image', '-q', '--name', cluster, name])
}
