// Which rule takes this request, and why not another one? Sends nothing through the gateway.
import { useState } from 'preact/hooks'
import { givenName } from '#cli/proxy/given-names.ts'
import { type Dump, problemOf } from '../api.ts'
import { listenerUrls } from '../listener-urls.ts'
import { Fact } from '../parts/fact.tsx'
import { Choice, TextArea, TextField } from '../parts/fields.tsx'
import { Table } from '../parts/table.tsx'
import { askRoute, type RouteExplanation, type TestedRequest } from '../route-question.ts'

type Candidate = RouteExplanation['candidates'][number]
type Listener = RouteExplanation['listeners'][number]

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const STATES = { selected: 'good', failed: undefined, outranked: undefined } as const

export function RouteTester({ dump }: { readonly dump: Dump }) {
  const [request, setRequest] = useState<TestedRequest>({
    method: 'GET',
    url: `${listenerUrls(dump)[0] ?? 'http://localhost:8080'}/`,
    port: '',
    headers: '',
  })
  const [explanation, setExplanation] = useState<RouteExplanation | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const test = async (): Promise<void> => {
    try {
      setExplanation(await askRoute(request, new AbortController().signal))
      setProblem('')
    } catch (error) {
      setExplanation(undefined)
      setProblem(problemOf(error))
    }
  }
  const change = (part: Partial<TestedRequest>): void => setRequest({ ...request, ...part })
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void test()
        }}
      >
        <Choice label="Method" value={request.method} options={METHODS} onValue={(method) => change({ method })} />
        <TextField isLong label="URL" value={request.url} onValue={(url) => change({ url })} />
        <TextField
          label="Port of the listener"
          value={request.port}
          placeholder="that of the URL"
          onValue={(port) => change({ port })}
        />
        <TextArea
          label="Header fields, one a line"
          rows={2}
          value={request.headers}
          placeholder="x-tenant: core"
          onValue={(headers) => change({ headers })}
        />
        <button class="main" type="submit">
          Test
        </button>
        <p role="status">{problem}</p>
      </form>
      {explanation !== undefined && <Result explanation={explanation} />}
    </>
  )
}

function Result({ explanation }: { readonly explanation: RouteExplanation }) {
  const { listeners, candidates, omitted } = explanation
  return (
    <>
      <Decision explanation={explanation} />
      <h2>Rules, in their order of precedence</h2>
      <Table
        caption="Rules"
        columns={[
          { head: 'Rule', cell: nameOf },
          { head: 'Match', cell: ({ match }) => <span class="mono">{match}</span> },
          { head: 'Result', cell: (row) => <span class={STATES[row.result]}>{reasonOf(row)}</span> },
        ]}
        rows={candidates.map((candidate, index) => ({ ...candidate, index }))}
        keyOf={({ index }) => String(index)}
        empty="The listener has no rules."
      />
      {omitted > 0 && <p class="soft">{omitted} further matches are not shown.</p>}
      <h2>Listeners of the port</h2>
      <Table
        caption="Listeners"
        columns={[
          { head: 'Listener', cell: ({ name }: Listener) => name },
          { head: 'Host', cell: ({ hostname = '*' }) => hostname },
          { head: 'Result', cell: (row) => <span class={STATES[row.result]}>{listenerReason(row)}</span> },
        ]}
        rows={listeners}
        keyOf={({ key }) => key}
        empty="The proxy has no listener for HTTP on this port."
      />
    </>
  )
}

function Decision({ explanation }: { readonly explanation: RouteExplanation }) {
  const { listeners, candidates, failure, delegatedTo } = explanation
  const selected = candidates.find(({ result }) => result === 'selected')
  const listener = listeners.find(({ result }) => result === 'selected')
  const lines = (text: string | undefined): string[] => (text === undefined ? [] : [text])
  return (
    <>
      <h2>{selected === undefined ? (failure ?? 'No rule takes the request') : nameOf(selected)}</h2>
      <dl class="facts">
        <Fact name="listener" lines={lines(listener?.name)} />
        <Fact name="match" lines={lines(selected?.match)} />
        <Fact name="delegated to" lines={lines(delegatedTo)} />
        <Fact name="failure" lines={selected === undefined ? [] : lines(failure)} />
      </dl>
    </>
  )
}

function nameOf({ namespace, name, rule }: Candidate): string {
  const route = `${namespace}/${givenName(name)}`
  return rule === undefined ? route : `${route}, rule ${rule}`
}

function reasonOf({ result, failedCondition, hostname }: Candidate): string {
  if (result === 'failed') return `not true: ${failedCondition ?? ''}`
  const host = hostname === undefined ? '' : ` at host ${hostname}`
  return result === 'selected' ? `selected${host}` : `matches${host}, but a rule above takes the request`
}

function listenerReason({ result, hostname = '' }: Listener): string {
  if (result === 'failed') return `not true: host ${hostname}`
  return result === 'selected' ? 'selected' : 'covers the host, but a listener with a more specific host is selected'
}
