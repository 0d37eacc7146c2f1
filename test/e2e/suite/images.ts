// Names of the images that run.sh built.
import { execFileSync } from 'node:child_process'

const registry = process.env['GW_E2E_REGISTRY'] ?? 'gw.dev'
const tag = process.env['GW_E2E_TAG'] ?? ''

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
  execFileSync('docker', ['tag', proxyImage(), `${registry}/gw:${other}`])
  execFileSync('kind', ['load', 'docker-image', '-q', '--name', cluster, `${registry}/gw:${other}`])
  return other
}
