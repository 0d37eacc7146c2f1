// gw proxy trace: prints the events of one request as they arrive, as lines of JSON or as a table.
import { printable, printableJson } from '#api/printable.ts'
import { printError, printLine, reasonText } from '../output.ts'
import { follow } from './follow.ts'
import { type TraceArguments, type TraceFlags, planTrace } from './plan.ts'
import type { EventLine } from './event-reader.ts'
import { labelOf, summaryOf } from './summary.ts'

const NUMBER_COLUMNS = 4
const TIME_COLUMNS = 9
const TYPE_COLUMNS = 16

/** Resolves to the exit code. */
export async function traceCommand(flags: TraceFlags, given: TraceArguments): Promise<number> {
  const plan = planTrace(flags, given)
  if ('problem' in plan) {
    printError(printable(plan.problem))
    return 1
  }
  const printer = new Printer(flags.raw === true)
  try {
    await follow(plan, (line) => printer.print(line))
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
  if (printer.isComplete) return 0
  printError(printer.count === 0 ? 'the trace has no events' : 'the trace ends before the end of the request')
  return 1
}

class Printer {
  count = 0
  /** Whether the end of the request was among the events. */
  isComplete = false
  readonly #isRaw: boolean

  constructor(isRaw: boolean) {
    this.#isRaw = isRaw
  }

  print({ event, json }: EventLine): void {
    this.count++
    if (event.message.type === 'requestFinished') this.isComplete = true
    if (this.#isRaw) {
      printLine(printableJson(json))
      return
    }
    if (this.count === 1) printLine(row(['#', 'ms', 'Type', 'Summary']))
    printLine(row([String(this.count), millisecondsOf(event), labelOf(event), summaryOf(event)]))
  }
}

/** Milliseconds since the request began. */
function millisecondsOf({ eventEnd }: EventLine['event']): string {
  return (eventEnd / 1000).toFixed(1)
}

function row([number, time, type, summary]: readonly [string, string, string, string]): string {
  return `${number.padEnd(NUMBER_COLUMNS)}${time.padEnd(TIME_COLUMNS)}${type.padEnd(TYPE_COLUMNS)}${summary}`
}
