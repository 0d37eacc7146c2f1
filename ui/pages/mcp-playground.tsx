// What does an MCP route offer, and does a call work? Lists tools, resources and prompts, and calls one with a form from
// its JSON Schema. The token stays in the memory of the page.
import { useEffect, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import { ApiError, type Dump, problemOf, type TraceEvent } from '../api.ts'
import { serverRows } from '../backend-parts.ts'
import { listenerUrls } from '../listener-urls.ts'
import { type McpItem, type McpQuestion, type McpSession, openMcp } from '../mcp-session.ts'
import { ActionsOff, mayAct } from '../parts/actions-off.tsx'
import { Explained } from '../parts/explained.tsx'
import { Choice, TextArea, TextField } from '../parts/fields.tsx'
import { Filter, isShown } from '../parts/filter.tsx'
import { Table } from '../parts/table.tsx'
import { fieldsOfSchema, type SchemaField, valuesOf } from '../schema-fields.ts'

export function McpPlayground({ dump }: { readonly dump: Dump }) {
  const url = `${listenerUrls(dump)[0] ?? 'http://localhost:8080'}/mcp`
  return mayAct(dump) ? <Connected url={url} dump={dump} /> : <ActionsOff />
}

function Connected({ url: first, dump }: { readonly url: string; readonly dump: Dump }) {
  const [url, setUrl] = useState(first)
  const [token, setToken] = useState('')
  const [session, setSession] = useState<McpSession | undefined>(undefined)
  const [item, setItem] = useState<McpItem | undefined>(undefined)
  const [events, setEvents] = useState<readonly TraceEvent[]>([])
  const [questions, setQuestions] = useState<readonly McpQuestion[]>([])
  const [status, setStatus] = useState('')
  useEffect(() => () => session?.close(), [session])
  const connect = async (): Promise<void> => {
    session?.close()
    setSession(undefined)
    setEvents([])
    setItem(undefined)
    setStatus('Connecting.')
    try {
      const opened = await openMcp({ url, token, onTrace: setEvents, onQuestions: setQuestions })
      setSession(opened)
      setStatus(`Connected to ${opened.server}.`)
    } catch (error) {
      setStatus(reasonOf(error))
    }
  }
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void connect()
        }}
      >
        <TextField label="URL" value={url} onValue={setUrl} />
        <TextField label="Token, if the route requires one" isSecret value={token} onValue={setToken} />
        <button class="main" type="submit">
          Connect
        </button>
        <p role="status">{status}</p>
      </form>
      {questions.map((question) => (
        <Question key={question.id} question={question} />
      ))}
      {session !== undefined && (
        <Items items={session.items} servers={serverRows(dump).map(({ endpoint }) => endpoint)} onItem={setItem} />
      )}
      {session !== undefined && item !== undefined && <Call key={item.name} session={session} item={item} />}
      {events.length > 0 && <Explained explanation={explanationOf(events)} dump={dump} />}
    </>
  )
}

interface ItemsProps {
  readonly items: readonly McpItem[]
  /** Names before those of tools and prompts, where a backend has several servers. */
  readonly servers: readonly string[]
  readonly onItem: (item: McpItem) => void
}

function Items({ items, servers, onItem }: ItemsProps) {
  const [text, setText] = useState('')
  return (
    <>
      <Filter label="Name or description" text={text} onText={setText} />
      <Table
        caption="Tools, resources and prompts"
        columns={[
          { head: 'Kind', cell: ({ kind }: McpItem) => kind },
          { head: 'Server', cell: ({ name }) => serverOf(name, servers) },
          {
            head: 'Name',
            cell: (item) => (
              <button class="plain mono" type="button" onClick={() => onItem(item)}>
                {item.name}
              </button>
            ),
          },
          { head: 'Description', cell: ({ description }) => description },
          { head: 'Arguments', cell: ({ schema }) => <Arguments schema={schema} /> },
        ]}
        rows={items.filter(({ name, description }) => isShown(text, [name, description]))}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        empty={text === '' ? 'The server offers nothing to this client.' : 'Nothing has this text.'}
      />
    </>
  )
}

/** Of a name with the prefix of its server, or of the only server. */
function serverOf(name: string, servers: readonly string[]): string {
  if (servers.length === 1) return servers[0] ?? ''
  return servers.find((server) => name.startsWith(`${server}_`) || name.startsWith(`${server}+`)) ?? ''
}

function Arguments({ schema }: { readonly schema: unknown }) {
  const fields = fieldsOfSchema(schema)
  if (fields.length === 0) return <>none</>
  return (
    <details>
      <summary>{fields.map(({ name, isRequired }) => `${name}${isRequired ? '' : '?'}`).join(', ')}</summary>
      <pre tabIndex={0} aria-label="JSON Schema">
        {JSON.stringify(schema, undefined, 2)}
      </pre>
    </details>
  )
}

/** A request of a server that waits for the user. */
function Question({ question: { kind, text, schema, accept, decline } }: { readonly question: McpQuestion }) {
  const fields = fieldsOfSchema(schema)
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const [problem, setProblem] = useState('')
  return (
    <section class="explained" aria-label={`Request of the server: ${kind}`}>
      <h2>{kind === 'elicitation' ? 'The server asks you' : 'The server asks for an answer of a model'}</h2>
      {kind === 'elicitation' ? <p>{text}</p> : <pre tabIndex={0}>{text}</pre>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          try {
            accept(valuesOf(fields, texts, schema))
          } catch (error) {
            setProblem(reasonOf(error))
          }
        }}
      >
        {fields.map((field) => (
          <SchemaInput
            key={field.name}
            field={field}
            text={texts.get(field.name)}
            onText={(next) => setTexts((all) => new Map(all).set(field.name, next))}
          />
        ))}
        <button class="main" type="submit">
          Answer
        </button>
        <button type="button" onClick={decline}>
          Decline
        </button>
        <p role="status">{problem}</p>
      </form>
    </section>
  )
}

function Call({ session, item }: { readonly session: McpSession; readonly item: McpItem }) {
  const fields = fieldsOfSchema(item.schema)
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const [result, setResult] = useState<string | undefined>(undefined)
  const call = async (): Promise<void> => {
    try {
      setResult(JSON.stringify(await session.call(item, valuesOf(fields, texts, item.schema)), undefined, 2))
    } catch (error) {
      setResult(reasonOf(error))
    }
  }
  return (
    <section aria-label={`Call ${item.name}`}>
      <h2>
        {item.kind} {item.name}
      </h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void call()
        }}
      >
        {fields.map((field) => (
          <SchemaInput
            key={field.name}
            field={field}
            text={texts.get(field.name)}
            onText={(text) => setTexts((all) => new Map(all).set(field.name, text))}
          />
        ))}
        <button class="main" type="submit">
          {item.kind === 'tool' ? 'Call' : 'Get'}
        </button>
      </form>
      {result !== undefined && (
        <pre tabIndex={0} aria-label="Result">
          {result}
        </pre>
      )}
    </section>
  )
}

interface SchemaInputProps {
  readonly field: SchemaField
  /** undefined: not typed yet. */
  readonly text: string | undefined
  readonly onText: (text: string) => void
}

function SchemaInput({ field, text, onText }: SchemaInputProps) {
  const { name, kind, options, isRequired, description } = field
  const label = `${name}${isRequired ? ' (required)' : ''}${description === '' ? '' : `: ${description}`}`
  const shared = { label, value: text ?? (kind === 'choice' ? (options[0] ?? '') : ''), onValue: onText }
  if (kind === 'choice') return <Choice {...shared} options={options} />
  return kind === 'json' ? <TextArea {...shared} rows={2} placeholder="JSON" /> : <TextField {...shared} />
}

/** Errors of the client contain the response of the gateway. */
function reasonOf(error: unknown): string {
  return error instanceof Error && !(error instanceof ApiError) ? error.message : problemOf(error)
}
