// Names of the images of this build (../cluster/use-cluster.ts).
import { nameImage } from '../cluster/kind-images.ts'

/** The name of the image in the samples. */
export const SAMPLE_IMAGE = 'gw.dev/gw-demo:v0.1.0'

export function proxyImage(): string {
  return `${registry()}/gw:${tagOrVersion()}`
}

export function demoImage(): string {
  return `${registry()}/gw-demo:${tagOrVersion()}`
}

/** The proxy's image under another tag, on all nodes; undefined if the cluster is not of kind. */
export async function secondProxyTag(): Promise<string | undefined> {
  const other = `${tagOrVersion()}-next`
  return (await nameOnNodes(proxyImage(), `${registry()}/gw:${other}`)) ? other : undefined
}

/** Adds the name of the samples to the demo image on all nodes; false if the cluster is not of kind. */
export async function loadSampleImage(): Promise<boolean> {
  return nameOnNodes(demoImage(), SAMPLE_IMAGE)
}

async function nameOnNodes(image: string, name: string): Promise<boolean> {
  const cluster = process.env['GW_E2E_CLUSTER'] ?? ''
  if (cluster !== '' && image !== name) await nameImage(cluster, image, name)
  return cluster !== ''
}

// Read on use: the setup sets them.
function registry(): string {
  return process.env['GW_E2E_REGISTRY'] ?? 'gw.dev'
}

function tagOrVersion(): string {
  const tag = process.env['GW_E2E_TAG'] ?? ''
  return tag === '' ? 'v0.1.0' : tag
}
