// Changes to the running process, if UI_ACTIONS allows them: the log level, and the end of the process.
import { useState } from 'preact/hooks'
import { drain, problemOf, setLogLevel } from '../api.ts'

const LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const

export interface ActionsProps {
  /** undefined: not known yet. */
  readonly openConnections: number | undefined
}

export function Actions({ openConnections }: ActionsProps) {
  const [level, setLevel] = useState<string>('info')
  const [isAsking, setAsking] = useState(false)
  const [state, setState] = useState('')
  const run = async (action: (signal: AbortSignal) => Promise<string>): Promise<void> => {
    try {
      setState(await action(new AbortController().signal))
    } catch (error) {
      setState(problemOf(error))
    }
  }
  const connections = openConnections === undefined ? '' : ` It has ${openConnections} open connections of clients now.`
  return (
    <section aria-label="Actions">
      <h2>Actions</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run(async (signal) => setLogLevel(level, signal))
        }}
      >
        <label>
          Log level until the proxy restarts
          <select value={level} onChange={({ currentTarget }) => setLevel(currentTarget.value)}>
            {LEVELS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="submit">Set log level</button>
      </form>
      <div class="bar">
        {isAsking ? (
          <>
            <p>{`The proxy finishes requests in progress, closes all ports, and exits.${connections}`}</p>
            <button type="button" class="main" onClick={() => void run(drain)}>
              Stop the proxy
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
          </>
        ) : (
          <button type="button" onClick={() => setAsking(true)}>
            Drain and stop …
          </button>
        )}
      </div>
      <p role="status">{state}</p>
    </section>
  )
}
