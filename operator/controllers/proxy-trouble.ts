// Why proxies of a Gateway do not run, as far as workload and pods report: for the status, where users look first.
// Pure. The message stays the same while a container restarts repeatedly: an attempt alone does not change the status.
import type { ContainerTrouble } from '../kube/container-troubles.ts'

export interface ConditionOfPart {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface WorkloadFacts {
  readonly kind: string
  readonly name: string
  readonly conditions: readonly ConditionOfPart[]
}

export interface PodFacts {
  readonly name: string
  readonly conditions: readonly ConditionOfPart[]
  readonly containers: readonly ContainerTrouble[]
}

/** undefined: no known problem; the start may take some time. */
export function proxyTrouble(workload: WorkloadFacts | undefined, pods: readonly PodFacts[]): string | undefined {
  const failure = conditionText(workload, 'ReplicaFailure', 'True')
  if (failure !== undefined) return failure
  const named = [...pods].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const pod of named) {
    const trouble = troubleOf(pod)
    if (trouble !== undefined) return `pod ${pod.name} ${trouble}`
  }
  return conditionText(workload, 'Progressing', 'False')
}

function conditionText(workload: WorkloadFacts | undefined, type: string, status: string): string | undefined {
  const found = workload?.conditions.find((one) => one.type === type && one.status === status)
  return found && `${workload?.kind} ${workload?.name}: ${found.message ?? found.reason ?? ''}`
}

function troubleOf({ conditions, containers }: PodFacts): string | undefined {
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  if (unscheduled !== undefined) return `cannot be scheduled: ${unscheduled.message ?? unscheduled.reason ?? ''}`
  const [container] = containers
  return container && containerText(container)
}

/** The kubelet alternates between attempts and waits; its messages contain the seconds. */
const PULLING: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'RegistryUnavailable',
])
const BACK_OFF = 'CrashLoopBackOff'

function containerText({ name, image, waiting, ended }: ContainerTrouble): string {
  if (waiting !== undefined && PULLING.has(waiting.reason)) {
    return `cannot pull the image ${image} of its container ${name}; see spec.image of the GwParameters`
  }
  if (waiting !== undefined && waiting.reason !== BACK_OFF) {
    return `cannot start its container ${name}: ${[waiting.reason, waiting.message].filter(Boolean).join(': ')}`
  }
  if (ended === undefined) return `restarts its container ${name} repeatedly; see its log`
  const why = [ended.reason, ended.message].filter((text) => text !== '' && text !== 'Error').join(': ')
  return `has a container ${name} that ended with code ${ended.exitCode}${why === '' ? '' : ` (${why})`}; see its log`
}
