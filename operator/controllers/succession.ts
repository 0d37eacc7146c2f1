// A DaemonSet that replaces a Deployment, or the other way round: the former workload stays until the new one serves,
// so that traffic continues. It stays some minutes at most, because the new one may never become available.
import { isRecord } from '#api/json.ts'
import { statusOf } from '../kube/status-of.ts'
import type { KubeObject } from '../translate/kube.ts'

/** The default time of Kubernetes for a rollout (`progressDeadlineSeconds`). */
const WAIT_MS_MAX = 600_000

export interface SuccessionInput {
  /** In the cluster, and no longer needed. */
  readonly unwanted: readonly KubeObject[]
  readonly wanted: readonly KubeObject[]
  readonly find: (kind: string, namespace: string, name: string) => KubeObject | undefined
  readonly nowMs: number
}

export class Succession {
  #sinceMs: number | undefined = undefined

  /** A former workload still exists: check again. */
  get isWaiting(): boolean {
    return this.#sinceMs !== undefined
  }

  /** The unwanted objects that can be deleted now. */
  settle({ unwanted, wanted, find, nowMs }: SuccessionInput): KubeObject[] {
    const successors = wanted
      .filter(isWorkload)
      .map(({ kind, metadata: { namespace = '', name } }) => find(kind, namespace, name))
    const isOver = nowMs - (this.#sinceMs ?? nowMs) >= WAIT_MS_MAX
    const staying = isOver ? [] : unwanted.filter((old) => successors.some((one) => isNeeded(old, one)))
    this.#sinceMs = staying.length === 0 ? undefined : (this.#sinceMs ?? nowMs)
    return unwanted.filter((old) => !staying.includes(old))
  }
}

function isWorkload({ kind }: KubeObject): boolean {
  return kind === 'Deployment' || kind === 'DaemonSet'
}

/** One new pod for each old one, or all expected pods. If nothing runs workloads, no pod becomes available. */
function isNeeded(old: KubeObject, successor: KubeObject | undefined): boolean {
  const before = isWorkload(old) ? availablePods(old) : 0
  if (before === 0) return false
  if (successor === undefined) return true
  return availablePods(successor) < Math.min(before, expectedPods(successor))
}

function availablePods(workload: KubeObject): number {
  const status = numbersOf(statusOf(workload))
  return status('availableReplicas') ?? status('numberAvailable') ?? 0
}

/** A DaemonSet that expects no pods was not processed yet, or selects no node. */
function expectedPods(workload: KubeObject): number {
  if (workload.kind === 'DaemonSet') return numbersOf(statusOf(workload))('desiredNumberScheduled') || 1
  return numbersOf('spec' in workload ? workload.spec : undefined)('replicas') ?? 1
}

function numbersOf(value: unknown): (name: string) => number | undefined {
  return (name) => {
    const found = isRecord(value) ? value[name] : undefined
    return typeof found === 'number' ? found : undefined
  }
}
