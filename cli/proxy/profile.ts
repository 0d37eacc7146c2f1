// gw proxy profile: writes a CPU or heap profile of a proxy to a file.
import { writeFile } from 'node:fs/promises'
import { printable } from '#api/printable.ts'
import { printError, printLine, reasonText } from '../output.ts'
import { AdminClient } from '../portforward/admin-client.ts'
import { targetOf, type TargetFlags } from '../portforward/targets.ts'
import { transportsOf } from '../portforward/transports.ts'

export type ProfileKind = 'cpu' | 'heap'

export interface ProfileFlags extends TargetFlags {
  readonly output?: string
  /** Of a CPU profile. */
  readonly seconds?: number
}

/** Beyond the time of sampling: threads that are busy, and a large profile. */
const SLACK_MS = 60_000

/** Resolves to the exit code. */
export async function profileCommand(
  kind: ProfileKind,
  { resource, flags }: { readonly resource: string | undefined; readonly flags: ProfileFlags },
): Promise<number> {
  try {
    const target = targetOf(flags, resource)
    if ('problem' in target) throw new Error(target.problem)
    const [transport] = await transportsOf(target)
    const { seconds = 0 } = flags
    const path = kind === 'cpu' ? `/debug/pprof/profile?seconds=${seconds}` : '/debug/pprof/heap'
    printError(
      kind === 'cpu' ? `${transport.label}: sampling for ${seconds} s` : `${transport.label}: reading the heap`,
    )
    const { status, body } = await new AdminClient(transport).download('GET', path, seconds * 1000 + SLACK_MS)
    if (status !== 200)
      throw new Error(`the admin server ${transport.label} returned ${status}: ${body.toString().trim()}`)
    const file = flags.output ?? `gw-${kind}-${timestamp(new Date())}.pb`
    await writeFile(file, body)
    printLine(printable(file))
    return 0
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

/** `20261123-235900`, in UTC. */
function timestamp(date: Date): string {
  return date
    .toISOString()
    .replace(/[-:]|\..*/g, '')
    .replace('T', '-')
}
