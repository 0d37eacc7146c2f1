// The details of an event: the event itself, the state of the request at that time, or what changed in it. Pure.
import { printable } from '#api/printable.ts'
import { dataText } from '../output.ts'
import type { TraceEvent } from '../trace/event-reader.ts'
import { snapshotBefore } from '../trace/snapshots.ts'
import { jsonPatch, type PatchOperation } from './json-patch.ts'

export type DetailMode = 'event' | 'snapshot' | 'diff'
export type DetailFormat = 'yaml' | 'json'

export interface DetailLine {
  readonly text: string
  /** Of a difference. */
  readonly change?: 'added' | 'removed'
}

export interface DetailQuery {
  readonly mode: DetailMode
  readonly format: DetailFormat
}

/** More than a person reads; `--raw` prints everything. */
const LINES_MAX = 5000
const BODY_BYTES_MAX = 64 * 1024

/** Of the event at `index`. */
export function detailLines(events: readonly TraceEvent[], index: number, query: DetailQuery): readonly DetailLine[] {
  const event = events[index]
  if (event === undefined) return []
  const { mode, format } = query
  const lines = mode === 'event' ? dataLines(readable(event), format) : stateLines(events, index, query)
  if (lines.length <= LINES_MAX) return lines
  return [...lines.slice(0, LINES_MAX), { text: `… ${lines.length - LINES_MAX} more lines; --raw prints all` }]
}

function stateLines(
  events: readonly TraceEvent[],
  index: number,
  { mode, format }: DetailQuery,
): readonly DetailLine[] {
  const current = snapshotBefore(events, index + 1)
  if (current === undefined) return [{ text: 'no snapshot yet' }]
  const { message } = current.event
  if (mode === 'snapshot')
    return [{ text: `# ${printable(message.stage ?? '')}` }, ...dataLines(message.requestState, format)]
  const former = snapshotBefore(events, current.index, message.type)
  if (former === undefined) return [{ text: `# ${printable(message.stage ?? '')}: the first snapshot` }]
  const head = { text: `# ${printable(former.event.message.stage ?? '')} → ${printable(message.stage ?? '')}` }
  const changes = jsonPatch(former.event.message.requestState, message.requestState)
  return changes.length === 0 ? [head, { text: 'no change' }] : [head, ...changes.flatMap(changeLines)]
}

function changeLines(operation: PatchOperation): DetailLine[] {
  const path = printable(operation.path)
  const removed = (value: unknown): DetailLine => ({ text: `- ${path}: ${valueText(value)}`, change: 'removed' })
  const added = (value: unknown): DetailLine => ({ text: `+ ${path}: ${valueText(value)}`, change: 'added' })
  return [
    ...('before' in operation ? [removed(operation.before)] : []),
    ...('value' in operation ? [added(operation.value)] : []),
  ]
}

function valueText(value: unknown): string {
  return printable(JSON.stringify(value) ?? '')
}

function dataLines(value: unknown, format: DetailFormat): DetailLine[] {
  return dataText(value ?? null, format)
    .trimEnd()
    .split('\n')
    .map((text) => ({ text }))
}

/** A body is base64 in the event: shown as JSON or text if it is one. */
function readable(event: TraceEvent): unknown {
  const { body } = event.message
  if (event.message.type !== 'bodySnapshot' || body === undefined) return event
  const bytes = Buffer.from(body, 'base64')
  const text = new TextDecoder().decode(bytes.subarray(0, BODY_BYTES_MAX))
  if (text.includes('\uFFFD')) return event
  return {
    ...event,
    message: { ...event.message, body: bytes.length > BODY_BYTES_MAX ? text : (jsonOf(text) ?? text) },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A text of another kind is shown as it is.
    return undefined
  }
}
