// Keeps only the reasons why containers of a pod do not run. Keeps nothing of a running pod.
import { isRecord, recordOf } from '#api/json.ts'

type Json = Readonly<Record<string, unknown>>

export interface ContainerTrouble {
  readonly name: string
  readonly image: string
  /** Why it does not start. */
  readonly waiting?: { readonly reason: string; readonly message: string }
  /** How it ended last, after a failure. */
  readonly ended?: { readonly exitCode: number; readonly reason: string; readonly message: string }
}

/** Each pod passes through these states while it starts: they are not reported. */
const PASSING: ReadonlySet<unknown> = new Set(['ContainerCreating', 'PodInitializing'])
const TEXT_CHARS_MAX = 512

/** Of `status` of a pod. */
export function containerTroubles(status: unknown): readonly ContainerTrouble[] {
  if (!isRecord(status)) return []
  const all = [status['initContainerStatuses'], status['containerStatuses']].flatMap((list) =>
    Array.isArray(list) ? list.filter(isRecord) : [],
  )
  return all.map(troubleOf).filter((one) => one !== undefined)
}

function troubleOf(container: Json): ContainerTrouble | undefined {
  if (container['ready'] === true) return undefined
  const waiting = recordOf(recordOf(container['state'])['waiting'])
  const ended = endOf(recordOf(container['state'])) ?? endOf(recordOf(container['lastState']))
  const isWaiting = waiting['reason'] !== undefined && !PASSING.has(waiting['reason'])
  if (!isWaiting && ended === undefined) return undefined
  return {
    name: textOf(container['name']),
    image: textOf(container['image']),
    ...(isWaiting && { waiting: { reason: textOf(waiting['reason']), message: textOf(waiting['message']) } }),
    ...(ended && { ended }),
  }
}

function endOf({ terminated }: Json): ContainerTrouble['ended'] {
  const { exitCode, reason, message } = recordOf(terminated)
  if (typeof exitCode !== 'number' || exitCode === 0) return undefined
  return { exitCode, reason: textOf(reason), message: textOf(message) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, TEXT_CHARS_MAX) : ''
}
