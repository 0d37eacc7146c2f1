// Connects to a port of pods, selected by their labels. The Kubernetes API server forwards the port.
import { PassThrough, Duplex } from 'node:stream'
import { CoreV1Api, type KubeConfig, PortForward } from '@kubernetes/client-node'
import { loadKubeConfig } from '#api/kube/kube-config.ts'
import type { AdminTransport } from './admin-client.ts'

export interface PodSelection {
  readonly namespace: string
  readonly labelSelector: string
  readonly port: number
}

/** One transport for each running pod, sorted by name. Rejects if the API server does not answer. */
export async function podTransports({ namespace, labelSelector, port }: PodSelection): Promise<AdminTransport[]> {
  const cluster = loadKubeConfig()
  if ('problem' in cluster) throw new Error(cluster.problem)
  const { config } = cluster
  const { items } = await config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace, labelSelector })
  return items
    .filter(({ status, metadata }) => status?.phase === 'Running' && metadata?.deletionTimestamp === undefined)
    .flatMap(({ metadata }) => metadata?.name ?? [])
    .sort()
    .map((pod) => ({ label: `${pod}.${namespace}`, open: () => forward(config, { namespace, pod, port }) }))
}

interface PodPort {
  readonly namespace: string
  readonly pod: string
  readonly port: number
}

async function forward(config: KubeConfig, { namespace, pod, port }: PodPort): Promise<Duplex> {
  const [output, input, refusal] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const stream = Duplex.from({ readable: output, writable: input })
  refusal.once('data', (text: Buffer) => stream.destroy(new Error(text.toString('utf8').trim())))
  const socket = await new PortForward(config).portForward(namespace, pod, [port], output, refusal, input)
  stream.once('close', () => {
    // Without retries it is the socket itself.
    if (typeof socket !== 'function') socket.close()
  })
  return stream
}
