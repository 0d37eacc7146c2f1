// Shows a trace in the terminal while it arrives, until the user quits.
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import type { EventLine } from '../trace/event-reader.ts'
import { paneRows, screenOf } from './screen.ts'
import { Terminal } from './terminal.ts'
import { firstView, pressed, type View, withEvent } from './view.ts'

export interface TraceSource {
  /** Of the resource or file. */
  readonly title: string
  /** Resolves at the end of the trace; `signal` ends it. */
  readonly follow: (handlers: {
    readonly onEvent: (line: EventLine) => void
    readonly onStatus: (text: string) => void
    readonly signal: AbortSignal
  }) => Promise<void>
}

/** Resolves when the user quits. @throws {Error} with the reason if the trace failed */
export async function showTrace({ title, follow }: TraceSource): Promise<void> {
  const [stopped, quit] = [new AbortController(), Promise.withResolvers<void>()]
  const hasColour = (process.env['NO_COLOR'] ?? '') === ''
  let failure: unknown
  let isDrawing = false
  const update = (change: (view: View) => View): void => {
    view = change(view)
    if (view.hasQuit) quit.resolve()
    if (isDrawing) return
    isDrawing = true
    // Events that arrive together are drawn once.
    setImmediate(() => {
      isDrawing = false
      terminal.draw(screenOf(view, terminal.size, { title, hasColour }))
    })
  }
  const terminal = new Terminal(process.stdin, process.stdout, {
    onKey: (key) => update((current) => pressed(current, key)),
    onResize: () => update((current) => ({ ...current, rows: paneRows(terminal.size) })),
    onEnd: () => quit.resolve(),
  })
  let view = firstView(paneRows(terminal.size), '')
  const onStatus = (status: string): void => update((current) => ({ ...current, status }))
  onStatus('connecting')
  const following = follow({
    onEvent: ({ event }) => update((current) => withEvent(current, event)),
    onStatus,
    signal: stopped.signal,
  }).then(
    () => onStatus('complete'),
    (error: unknown) => {
      if (stopped.signal.aborted) return
      failure = error
      onStatus(messageOf(error))
      // Nothing to look at: the caller prints the reason.
      if (view.events.length === 0) quit.resolve()
    },
  )
  try {
    await quit.promise
  } finally {
    terminal.close()
    stopped.abort()
    await following
  }
  if (failure !== undefined) throw failure
}
