// The samples for a cluster, and helpers for tests of a Gateway.
import { join, resolve } from 'node:path'
import { apply, conditionOf, get, type KubeObject, list, waitFor } from './kubectl.ts'

export const NAMESPACE = 'demo'

const FOLDER = resolve(import.meta.dirname, '../../../config/samples')

export function sample(...parts: readonly string[]): string {
  return join(FOLDER, ...parts)
}

/** The objects of only this theme: its folder also has the shared upstreams, which other themes need. */
export function themeFile(theme: string): string {
  return sample(theme, `${theme}.yaml`)
}

/** Applies a theme and waits until its Gateway is programmed. */
export async function useSample(theme: string): Promise<KubeObject> {
  await apply(themeFile(theme))
  return programmed(theme)
}

export async function programmed(gateway: string, namespace = NAMESPACE): Promise<KubeObject> {
  return waitFor(
    `Gateway ${namespace}/${gateway} is programmed`,
    async () => {
      const object = await get('gateway', namespace, gateway)
      return conditionOf(object, 'Programmed')?.status === 'True' ? object : undefined
    },
    120_000,
  )
}

/** Name of the Gateway's Service inside the cluster. */
export function serviceOf(gateway: string): string {
  return `${gateway}.${NAMESPACE}.svc.cluster.local`
}

/** Running and ready pods of the Gateway. */
export async function readyProxies(gateway: string): Promise<KubeObject[]> {
  const pods = await list('pods', '-n', NAMESPACE, '-l', `gateway.networking.k8s.io/gateway-name=${gateway}`)
  return pods.filter((pod) => conditionOf(pod, 'Ready')?.status === 'True')
}

export async function proxyCount(gateway: string, count: number): Promise<KubeObject[]> {
  return waitFor(
    `${count} ready proxies of ${gateway}`,
    async () => {
      const all = await list('pods', '-n', NAMESPACE, '-l', `gateway.networking.k8s.io/gateway-name=${gateway}`)
      const ready = await readyProxies(gateway)
      return ready.length === count && all.length === count ? ready : undefined
    },
    180_000,
  )
}
