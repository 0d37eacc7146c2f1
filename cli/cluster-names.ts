// Names of the cluster for completion: Gateways, pods, namespaces and contexts.
import type { KubeConfig } from '@kubernetes/client-node'
import { clusterOf, defaultNamespace, namespaceNames } from './portforward/kube-api.ts'
import { gatewayOf, proxyPods } from './portforward/proxy-pods.ts'

/** Longer, and the user has typed on. */
const DEADLINE_MS = 2000

/** `words`: after `gw`, the last one is completed. */
export async function clusterNames(words: readonly string[]): Promise<readonly string[]> {
  const [flag = '', word = ''] = words.slice(-2)
  const [kubeconfig, context] = [valueOf(words, '--kubeconfig', '-k'), valueOf(words, '--context')]
  const file = kubeconfig === undefined ? {} : { kubeconfig }
  try {
    if (flag === '--context') return contextNames(clusterOf(file))
    const config = clusterOf(context === undefined ? file : { ...file, context })
    if (flag === '-n' || flag === '--namespace') return await namespaceNames(config, DEADLINE_MS)
    return flag.startsWith('-') ? [] : await proxyNames(config, valueOf(words, '--namespace', '-n'), word)
  } catch {
    // A shell that completes a word has no place for a message: an unreachable cluster has no names.
    return []
  }
}

function contextNames(config: KubeConfig): string[] {
  return config.getContexts().map(({ name }) => name)
}

/** Pods after `pod/`, else Gateways. */
async function proxyNames(config: KubeConfig, given: string | undefined, word: string): Promise<readonly string[]> {
  const namespace = given ?? defaultNamespace(config)
  const pods = await proxyPods(config, { namespace, deadlineMs: DEADLINE_MS })
  if (word.startsWith('pod/')) return pods.map(({ metadata }) => `pod/${metadata?.name ?? ''}`)
  return [...new Set(pods.map((pod) => gatewayOf(pod)?.replace(/\.[^.]*$/, '') ?? ''))]
}

/** The value of a flag before the last two words. */
function valueOf(words: readonly string[], ...flags: readonly string[]): string | undefined {
  const at = words.findLastIndex((word, index) => flags.includes(word) && index < words.length - 2)
  return at === -1 ? undefined : words[at + 1]
}
