// What does an MCP route offer, and does a call work? Lists tools, resources and prompts, and calls one with a form from
// its JSON Schema. The token stays in the memory of the page.
import { useEffect, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import type { Dump, TraceEvent } from '../api.ts'
import { serverRows } from '../backend-parts.ts'
import { type McpItem, type McpQuestion, mcpProblemOf, type McpSession, openMcp } from '../mcp-session.ts'
import { mcpUrls } from '../mcp-urls.ts'
import { ActionsOff, mayAct } from '../parts/actions-off.tsx'
import { Explained } from '../parts/explained.tsx'
import { Choice, TextArea, TextField } from '../parts/fields.tsx'
import { McpItems } from '../parts/mcp-items.tsx'
import { fieldsOfSchema, type SchemaField, valuesOf } from '../schema-fields.ts'

export function McpPlayground({ dump }: { readonly dump: Dump }) {
  return mayAct(dump) ? <Connected urls={mcpUrls(dump)} dump={dump} /> : <ActionsOff />
}

function Connected({ urls, dump }: { readonly urls: readonly string[]; readonly dump: Dump }) {
  const [url, setUrl] = useState(urls[0] ?? '')
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
      setStatus(mcpProblemOf(error))
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
        <TextField isLong label="URL" value={url} options={urls} onValue={setUrl} />
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
        <McpItems items={session.items} servers={serverRows(dump).map(({ endpoint }) => endpoint)} onItem={setItem} />
      )}
      {session !== undefined && item !== undefined && <Call key={item.name} session={session} item={item} />}
      {events.length > 0 && <Explained explanation={explanationOf(events)} dump={dump} />}
    </>
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
            setProblem(mcpProblemOf(error))
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
      setResult(mcpProblemOf(error))
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
