// What the terminal shows of a trace, and how keys change it. Pure.
import { labelOf, summaryOf } from '../trace/summary.ts'
import type { TraceEvent } from '../trace/event-reader.ts'
import { detailLines, type DetailFormat, type DetailMode } from './details.ts'

export interface View {
  readonly events: readonly TraceEvent[]
  readonly selected: number
  readonly pane: 'events' | 'details'
  readonly mode: DetailMode
  readonly format: DetailFormat
  /** First line of the details that is shown. */
  readonly scroll: number
  /** undefined: no search was made. */
  readonly search: string | undefined
  /** The user types the text of the search. */
  readonly isSearching: boolean
  readonly hasHelp: boolean
  readonly hasQuit: boolean
  /** What the trace does now. */
  readonly status: string
  /** Lines that a pane can show. */
  readonly rows: number
}

/** A key as readline names it; `text` is what the user typed. */
export interface Key {
  readonly name: string
  readonly text: string
  readonly isControl: boolean
}

const SEARCH_CHARACTERS_MAX = 200
/** A request has at most 1024 events; a file may have those of several. */
const EVENTS_MAX = 5000

export function firstView(rows: number, status: string): View {
  return {
    events: [],
    selected: 0,
    pane: 'events',
    mode: 'event',
    format: 'yaml',
    scroll: 0,
    search: undefined,
    isSearching: false,
    hasHelp: false,
    hasQuit: false,
    status,
    rows,
  }
}

/** Follows the trace while its last event is selected. */
export function withEvent(view: View, event: TraceEvent): View {
  if (view.events.length >= EVENTS_MAX) return { ...view, status: `only the first ${EVENTS_MAX} events are shown` }
  const isFollowing = view.selected >= view.events.length - 1 && view.pane === 'events'
  const events = [...view.events, event]
  return { ...view, events, ...(isFollowing && { selected: events.length - 1, scroll: 0 }) }
}

export function pressed(view: View, key: Key): View {
  if (key.isControl && key.name === 'c') return { ...view, hasQuit: true }
  if (view.isSearching) return typed(view, key)
  if (view.hasHelp) return { ...view, hasHelp: false }
  return ACTIONS.get(key.text)?.(view) ?? ACTIONS.get(key.name)?.(view) ?? view
}

type Action = (view: View) => View

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['q', (view) => ({ ...view, hasQuit: true })],
  ['escape', (view) => ({ ...view, hasQuit: true })],
  ['tab', (view) => ({ ...view, pane: view.pane === 'events' ? 'details' : 'events' })],
  ['up', (view) => moved(view, -1)],
  ['down', (view) => moved(view, 1)],
  ['k', (view) => moved(view, -1)],
  ['j', (view) => moved(view, 1)],
  ['left', (view) => ({ ...view, pane: 'events' })],
  ['right', (view) => ({ ...view, pane: 'details' })],
  ['pageup', (view) => moved(view, -view.rows)],
  ['pagedown', (view) => moved(view, view.rows)],
  ['home', (view) => moved(view, -Infinity)],
  ['end', (view) => moved(view, Infinity)],
  ['e', (view) => ({ ...view, mode: 'event', scroll: 0 })],
  ['s', (view) => ({ ...view, mode: 'snapshot', scroll: 0 })],
  ['d', (view) => ({ ...view, mode: 'diff', scroll: 0 })],
  ['f', (view) => ({ ...view, format: view.format === 'yaml' ? 'json' : 'yaml', scroll: 0 })],
  ['/', (view) => ({ ...view, isSearching: true, search: '' })],
  ['n', (view) => found(view, 1)],
  ['N', (view) => found(view, -1)],
  ['?', (view) => ({ ...view, hasHelp: true })],
])

function moved(view: View, by: number): View {
  if (view.pane === 'events') return selected(view, view.selected + by)
  const lines = detailLines(view.events, view.selected, view).length
  return { ...view, scroll: clamp(view.scroll + by, 0, lines - view.rows) }
}

function selected(view: View, index: number): View {
  return { ...view, selected: clamp(index, 0, view.events.length - 1), scroll: 0 }
}

function typed(view: View, { name, text, isControl }: Key): View {
  const { search = '' } = view
  if (name === 'escape') return { ...view, isSearching: false, search: undefined }
  if (name === 'return' || name === 'enter') return found({ ...view, isSearching: false }, 1)
  if (name === 'backspace') return { ...view, search: search.slice(0, -1) }
  const isText = text !== '' && !isControl && !/\p{Cc}/u.test(text)
  return isText ? { ...view, search: (search + text).slice(0, SEARCH_CHARACTERS_MAX) } : view
}

/** The next event that contains the text, in its line or its content; after the last one, the first. */
function found(view: View, step: 1 | -1): View {
  const { events, search = '' } = view
  if (search === '' || events.length === 0) return view
  const wanted = search.toLowerCase()
  for (let count = 1; count <= events.length; count++) {
    const index = (view.selected + step * count + events.length * count) % events.length
    const event = events[index]
    if (event !== undefined && searchable(event).includes(wanted)) return selected(view, index)
  }
  return { ...view, status: `"${search}" not found` }
}

function searchable(event: TraceEvent): string {
  return `${labelOf(event)} ${summaryOf(event)} ${JSON.stringify(event.message)}`.toLowerCase()
}

/** `min` if the range is empty. */
function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(value, max))
}
