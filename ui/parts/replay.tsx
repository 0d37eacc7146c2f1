// Edits a request and sends it again, and compares both traces.
import { useEffect, useRef, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import { type Dump, problemOf, type TraceEvent } from '../api.ts'
import { callGateway, textOf } from '../gateway-call.ts'
import { curlOf, gatewayRequestOf, type ReplayedRequest, requestOf } from '../replay-request.ts'
import { ActionsOff, mayAct } from './actions-off.tsx'
import { Comparison } from './comparison.tsx'
import { CopyButton } from './copy-button.tsx'
import { Explained } from './explained.tsx'
import { TextArea, TextField } from './fields.tsx'

const REDACTED = '<redacted>'

export function Replay({ events, dump }: { readonly events: readonly TraceEvent[]; readonly dump: Dump }) {
  const [request, setRequest] = useState<ReplayedRequest | undefined>(undefined)
  const { replayed, status, send } = useReplay()
  const given = requestOf(events, dump)
  if (given === undefined) return null
  if (request === undefined) {
    return (
      <div class="bar">
        <button type="button" onClick={() => setRequest(given)}>
          Edit and send again
        </button>
        <CopyButton name="the curl command" text={curlOf(given)} label="Copy as curl" />
      </div>
    )
  }
  if (!mayAct(dump)) return <ActionsOff />
  return (
    <section aria-label="Replay">
      <h2>Send again</h2>
      <ReplayForm request={request} onRequest={setRequest} onSend={() => void send(request)} status={status} />
      {replayed.length > 0 && (
        <>
          <div class="split even">
            <div>
              <h3>Before</h3>
              <Explained label="Explanation before" explanation={explanationOf(events)} dump={dump} />
            </div>
            <div>
              <h3>Sent again</h3>
              <Explained label="Explanation after" explanation={explanationOf(replayed)} dump={dump} />
            </div>
          </div>
          <Comparison before={events} after={replayed} titles={['Before', 'Sent again']} />
        </>
      )}
    </section>
  )
}

interface ReplayFormProps {
  readonly request: ReplayedRequest
  readonly onRequest: (request: ReplayedRequest) => void
  readonly onSend: () => void
  readonly status: string
}

function ReplayForm({ request, onRequest, onSend, status }: ReplayFormProps) {
  const change = (part: Partial<ReplayedRequest>): void => onRequest({ ...request, ...part })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
    >
      <TextField label="Method" value={request.method} onValue={(method) => change({ method })} />
      <TextField isLong label="URL" value={request.url} onValue={(url) => change({ url })} />
      <TextField label="Port of the listener" value={request.port} onValue={(port) => change({ port })} />
      <TextArea
        label={`Header fields, one a line; replace ${REDACTED} by the credential`}
        rows={4}
        value={request.headers}
        onValue={(headers) => change({ headers })}
      />
      <TextArea
        label="Body, as the policies before the backend left it"
        rows={3}
        value={request.body}
        onValue={(body) => change({ body })}
      />
      <button class="main" type="submit">
        Send
      </button>
      <p role="status">
        {status === '' && request.headers.includes(REDACTED) ? `A header field is still ${REDACTED}.` : status}
      </p>
    </form>
  )
}

function useReplay() {
  const [replayed, setReplayed] = useState<readonly TraceEvent[]>([])
  const [status, setStatus] = useState('')
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const send = async (request: ReplayedRequest): Promise<void> => {
    stop.current.abort()
    const { signal } = (stop.current = new AbortController())
    const events: TraceEvent[] = []
    setReplayed([])
    setStatus('Sending.')
    try {
      const answer = await callGateway(gatewayRequestOf(request), { signal, onEvent: (event) => events.push(event) })
      const text = await textOf(answer)
      setReplayed(events)
      setStatus(`${answer.status}, ${text.length} characters.`)
    } catch (error) {
      if (!signal.aborted) setStatus(problemOf(error))
    }
  }
  return { replayed, status, send }
}
