// gw explain: traces one request, or reads a saved trace, and prints why the request got its response.
import { printable } from '#api/printable.ts'
import { dataText, printError, printLine, reasonText } from '../output.ts'
import type { TraceEvent } from '../trace/event-reader.ts'
import { follow } from '../trace/follow.ts'
import { planTrace, type TraceArguments, type TraceFlags } from '../trace/plan.ts'
import { explanationOf } from './explanation.ts'
import { explanationText } from './text.ts'

export interface ExplainFlags extends TraceFlags {
  readonly output: 'text' | 'json'
}

/** Resolves to the exit code. */
export async function explainCommand(flags: ExplainFlags, given: TraceArguments): Promise<number> {
  const port = flags.port ?? portOf(given.request[0])
  const plan = planTrace({ ...flags, ...(port !== undefined && { port }) }, given)
  if ('problem' in plan) {
    printError(printable(plan.problem))
    return 1
  }
  const events: TraceEvent[] = []
  try {
    await follow(plan, { onEvent: ({ event }) => events.push(event), onStatus: printError })
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
  const explanation = explanationOf(events)
  if (explanation === undefined) {
    printError('the trace ends before the end of the request')
    return 1
  }
  if (flags.output === 'json') process.stdout.write(dataText(explanation, 'json'))
  else printLine(explanationText(explanation))
  return 0
}

/** The port of the URL is that of the listener, unless --port names another. */
function portOf(text: string | undefined): number | undefined {
  const url = text === undefined ? null : URL.parse(text)
  if (url === null) return undefined
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}
