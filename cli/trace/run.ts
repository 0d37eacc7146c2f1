// gw proxy trace: prints the events of one request as they arrive, as lines of JSON or as a table.
import { printable, printableJson } from '#api/printable.ts'
import { printError, printLine, reasonText } from '../output.ts'
import { follow } from './follow.ts'
import { type TraceArguments, type TraceFlags, planTrace, type TracePlan } from './plan.ts'
import type { EventLine } from './event-reader.ts'
import { labelOf, millisecondsOf, summaryOf } from './summary.ts'

const NUMBER_COLUMNS = 4
const TIME_COLUMNS = 9
const TYPE_COLUMNS = 16

export interface ShownTraceFlags extends TraceFlags {
  readonly raw?: boolean
  /** false: `--no-ui`. */
  readonly ui: boolean
}

/** Resolves to the exit code. */
export async function traceCommand(flags: ShownTraceFlags, given: TraceArguments): Promise<number> {
  const plan = planTrace(flags, given)
  if ('problem' in plan) {
    printError(printable(plan.problem))
    return 1
  }
  try {
    return isInteractive(flags, plan) ? await show(plan) : await print(plan, flags.raw === true)
  } catch (error) {
    printError(reasonText(error))
    return 1
  }
}

/** Standard input must be free for keys. */
function isInteractive({ raw = false, ui }: ShownTraceFlags, plan: TracePlan): boolean {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb'
  return isTerminal && ui && !raw && !(plan.kind === 'file' && plan.file === '-')
}

async function show(plan: TracePlan): Promise<number> {
  const { showTrace } = await import('../tui/run.ts')
  await showTrace({ title: titleOf(plan), follow: (handlers) => follow(plan, handlers) })
  return 0
}

function titleOf(plan: TracePlan): string {
  if (plan.kind === 'file') return plan.file
  const { target } = plan
  if (target.kind === 'local') return `${target.address.host}:${target.address.port}`
  const { resource, namespace } = target
  const name = resource === undefined ? 'gateway' : `${resource.kind}/${resource.name}`
  return namespace === undefined ? name : `${name} -n ${namespace}`
}

async function print(plan: TracePlan, isRaw: boolean): Promise<number> {
  const printer = new Printer(isRaw)
  await follow(plan, { onEvent: (line) => printer.print(line), onStatus: printError })
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

function row([number, time, type, summary]: readonly [string, string, string, string]): string {
  return `${number.padEnd(NUMBER_COLUMNS)}${time.padEnd(TIME_COLUMNS)}${type.padEnd(TYPE_COLUMNS)}${summary}`
}
