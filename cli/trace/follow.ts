// Follows what the plan of a trace selects: a saved trace, or a request through a running proxy.
import { createReadStream } from 'node:fs'
import { printError } from '../output.ts'
import { transportsOf } from '../portforward/transports.ts'
import { EventReader, type EventLine } from './event-reader.ts'
import { traceLive } from './live.ts'
import type { TracePlan } from './plan.ts'

/** All events of the plan. @throws {Error} with the reason if the trace is incomplete */
export async function follow(plan: TracePlan, onEvent: (line: EventLine) => void): Promise<void> {
  if (plan.kind === 'file') {
    const reader = new EventReader(onEvent)
    const input = plan.file === '-' ? process.stdin : createReadStream(plan.file)
    input.setEncoding('utf8')
    for await (const chunk of input) reader.push(String(chunk))
    reader.end()
    return
  }
  await followLive(plan, onEvent)
}

async function followLive(
  { target, expression, injection }: Extract<TracePlan, { kind: 'live' }>,
  onEvent: (line: EventLine) => void,
): Promise<void> {
  const [admin, ...others] = await transportsOf(target)
  if (others.length > 0) {
    printError(`${admin.label} is one of ${others.length + 1} pods; pod/NAME selects another`)
  }
  if (injection === undefined) {
    const onReady = (): void => printError('waiting for a request; press Ctrl-C to stop')
    await traceLive({ admin, expression, injection, onEvent, onReady })
    return
  }
  await admin.withPort(injection.port, (port) => {
    const onReady = (): void => printError('sending the request')
    return traceLive({ admin, expression, injection: { ...injection, port }, onEvent, onReady })
  })
}
