// Draws a view as lines of text for a terminal. Marks carry the meaning of all colours. Pure.
import stringWidth from 'string-width'
import { recordOf } from '#api/json.ts'
import { printable } from '#api/printable.ts'
import type { TraceEvent } from '../trace/event-reader.ts'
import { labelOf, millisecondsOf, summaryOf } from '../trace/summary.ts'
import { detailLines, type DetailLine } from './details.ts'
import type { View } from './view.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Look {
  /** Of the resource. */
  readonly title: string
  readonly hasColour: boolean
}

/** Title, heads of the columns, and keys. */
const FRAME_ROWS = 3
const COLUMNS_MIN = 40
const ROWS_MIN = 6
/** Below it only the active pane is shown. */
const TWO_PANES_MIN = 70
const NUMBER_COLUMNS = 5
const TIME_COLUMNS = 9
const LABEL_COLUMNS = 16

const KEYS = '↑↓ move  tab pane  e event  s snapshot  d diff  f format  / search  n next  ? help  q quit'
const HELP = [
  '↑ ↓ k j        previous, next event; in the details: scroll',
  'PgUp PgDn      one page',
  'Home End       first, last',
  'tab ← →        other pane',
  'e              details: the event as it arrived',
  's              details: the request or response at that time',
  'd              details: what changed since the previous snapshot',
  'f              YAML or JSON',
  '/ text enter   search in all events; n next, N previous',
  '?              this help',
  'q esc ctrl-c   quit',
  '',
  'Marks: ! error, ~ warning, + success. Any key closes the help.',
]

const SEVERITIES = {
  error: { mark: '!', colour: 31 },
  warn: { mark: '~', colour: 33 },
  success: { mark: '+', colour: 32 },
  info: { mark: ' ', colour: undefined },
} as const satisfies { [S in TraceEvent['severity']]: { mark: string; colour: number | undefined } }
const CHANGES = { added: 32, removed: 31 } as const
const BOLD = 1

/** Rows that a pane has in a terminal of this size. */
export function paneRows({ rows }: Pick<Size, 'rows'>): number {
  return Math.max(1, rows - FRAME_ROWS)
}

/** As many lines as the terminal has rows, without line ends. */
export function screenOf(view: View, size: Size, look: Look): string[] {
  const { columns, rows } = size
  if (columns < COLUMNS_MIN || rows < ROWS_MIN) {
    return [fit(`The terminal needs ${COLUMNS_MIN} columns and ${ROWS_MIN} rows.`, columns)]
  }
  const count = paneRows(size)
  const paint = (text: string, code: number | undefined): string =>
    look.hasColour && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text
  const footer = view.isSearching ? `/${printable(view.search ?? '')}` : KEYS
  if (view.hasHelp) {
    const body = Array.from({ length: count + 1 }, (_, row) => fit(` ${HELP[row] ?? ''}`, columns))
    return [paint(fit(titleOf(view, look, columns), columns), BOLD), ...body, fit(` ${footer}`, columns)]
  }
  const left = eventLines(view, { count, paint })
  const right = detailPane(view, { count, paint })
  const body =
    columns < TWO_PANES_MIN
      ? (view.pane === 'events' ? left : right).map((draw) => draw(columns))
      : left.map((draw, row) => {
          const width = Math.floor((columns * 3) / 5)
          return `${draw(width)}│${(right[row] ?? blank)(columns - width - 1)}`
        })
  return [paint(fit(titleOf(view, look, columns), columns), BOLD), ...body, fit(` ${footer}`, columns)]
}

type Draw = (columns: number) => string
type Paint = (text: string, code: number | undefined) => string

interface Pane {
  readonly count: number
  readonly paint: Paint
}

const blank: Draw = (columns) => ' '.repeat(columns)

function titleOf({ events, status }: View, { title }: Look, columns: number): string {
  const state = events.map(({ message }) => recordOf(message.requestState)['request']).find((one) => one !== undefined)
  const { method, host, path } = recordOf(state)
  const request = typeof method === 'string' ? `  ${method} ${textOf(host)}${textOf(path)}` : ''
  const end = ` ${printable(status)} `
  const start = ` ${printable(title)}${printable(request)}`
  return `${fit(start, Math.max(0, columns - stringWidth(end)))}${end}`
}

function eventLines(view: View, { count, paint }: Pane): Draw[] {
  const { events, selected, pane } = view
  const head = `${' #'.padEnd(NUMBER_COLUMNS)}${'ms'.padEnd(TIME_COLUMNS)}${'event'.padEnd(LABEL_COLUMNS)}  summary`
  const first = Math.max(0, Math.min(selected - Math.floor(count / 2), events.length - count))
  const rows = Array.from({ length: count }, (_, row): Draw => {
    const index = first + row
    const event = events[index]
    if (event === undefined) return blank
    const { mark, colour } = SEVERITIES[event.severity]
    const start = `${index === selected ? '▸' : ' '}${String(index + 1).padEnd(NUMBER_COLUMNS - 1)}`
    const line = `${start}${millisecondsOf(event).padEnd(TIME_COLUMNS)}${labelOf(event).padEnd(LABEL_COLUMNS)}${mark} ${summaryOf(event)}`
    return (columns) => paint(fit(line, columns), colour)
  })
  return [(columns) => paint(fit(pane === 'events' ? `[${head.trim()}]` : head, columns), BOLD), ...rows]
}

function detailPane(view: View, { count, paint }: Pane): Draw[] {
  const { events, selected, mode, format, pane, scroll } = view
  const names = (['event', 'snapshot', 'diff'] as const).map((name) => (name === mode ? `(${name})` : ` ${name} `))
  const head = `${names.join(' ')} ${format}`
  const lines = detailLines(events, selected, view).slice(scroll, scroll + count)
  const rows = Array.from({ length: count }, (_, row): Draw => {
    const line: DetailLine | undefined = lines[row]
    if (line === undefined) return blank
    const colour = line.change === undefined ? undefined : CHANGES[line.change]
    return (columns) => paint(fit(` ${line.text}`, columns), colour)
  })
  return [(columns) => paint(fit(pane === 'details' ? `[${head}]` : ` ${head}`, columns), BOLD), ...rows]
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Exactly as wide as `columns`: cut with an ellipsis, or filled with spaces. */
export function fit(text: string, columns: number): string {
  const width = stringWidth(text)
  if (width <= columns) return text + ' '.repeat(columns - width)
  let [cut, used] = ['', 0]
  for (const { segment } of GRAPHEMES.segment(text)) {
    const next = used + stringWidth(segment)
    if (next > columns - 1) break
    cut += segment
    used = next
  }
  return columns <= 0 ? '' : `${cut}…${' '.repeat(columns - used - 1)}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
