// Follows what the plan of a trace selects: a saved trace, or a request through a running proxy.
import { createReadStream } from 'node:fs'
import { transportsOf } from '../portforward/transports.ts'
import { readProblem } from '../manifests/files.ts'
import { reasonText } from '../output.ts'
import { EventReader, type EventLine } from './event-reader.ts'
import { traceLive } from './live.ts'
import type { TracePlan } from './plan.ts'

export interface TraceHandlers {
  readonly onEvent: (line: EventLine) => void
  /** What the command waits for, and messages of curl. */
  readonly onStatus: (text: string) => void
  /** Ends the trace early. */
  readonly signal?: AbortSignal
}

/** All events of the plan. @throws {Error} with the reason if the trace is incomplete */
export async function follow(plan: TracePlan, handlers: TraceHandlers): Promise<void> {
  if (plan.kind === 'file') await readTrace(plan.file, handlers)
  else await followLive(plan, handlers)
}

const SAVED = 'pass the output of gw proxy trace --raw'

async function readTrace(file: string, { onEvent, signal }: TraceHandlers): Promise<void> {
  const reader = new EventReader(onEvent)
  try {
    const input = file === '-' ? process.stdin : createReadStream(file, { ...(signal !== undefined && { signal }) })
    input.setEncoding('utf8')
    for await (const chunk of input) reader.push(String(chunk))
    reader.end()
  } catch (error) {
    if (signal?.aborted === true) throw error
    const isUnread = error instanceof Error && 'code' in error
    const reason = isUnread ? readProblem(file, error) : `${reasonText(error)}; ${SAVED}`
    throw new Error(`${file === '-' ? '<stdin>' : file}: ${reason}`, { cause: error })
  }
}

async function followLive(
  { target, expression, injection }: Extract<TracePlan, { kind: 'live' }>,
  { onEvent, onStatus, signal }: TraceHandlers,
): Promise<void> {
  const [admin, ...others] = await transportsOf(target)
  if (others.length > 0) onStatus(`${admin.label} is one of ${others.length + 1} pods; pod/NAME selects another`)
  const trace = { admin, expression, onEvent, onStatus, signal }
  if (injection === undefined) await traceLive({ ...trace, injection })
  else await admin.withPort(injection.port, (port) => traceLive({ ...trace, injection: { ...injection, port } }))
}
