// The tools that an MCP route offers to a client with this token, listed when the user asks. The session lasts as long
// as the list takes. The token stays in the memory of the page.
import { useEffect, useRef, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import type { Dump, TraceEvent } from '../api.ts'
import { type McpItem, mcpProblemOf, openMcp } from '../mcp-session.ts'
import { Explained } from './explained.tsx'
import { TextField } from './fields.tsx'
import { McpItems } from './mcp-items.tsx'

export interface ListedToolsProps {
  readonly dump: Dump
  readonly urls: readonly string[]
  /** Names before those of tools, where a backend has several servers. */
  readonly servers: readonly string[]
  readonly onItems: (items: readonly McpItem[]) => void
}

export function ListedTools({ dump, urls, servers, onItems }: ListedToolsProps) {
  const [url, setUrl] = useState(urls[0] ?? '')
  const [token, setToken] = useState('')
  const [items, setItems] = useState<readonly McpItem[] | undefined>(undefined)
  const [events, setEvents] = useState<readonly TraceEvent[]>([])
  const [status, setStatus] = useState('')
  const isShown = useRef(true)
  useEffect(() => () => void (isShown.current = false), [])
  const list = async (): Promise<void> => {
    setItems(undefined)
    setEvents([])
    setStatus('Waiting for the servers.')
    let last: readonly TraceEvent[] = []
    const start = performance.now()
    try {
      const session = await openMcp({ url, token, onTrace: (trace) => (last = trace), onQuestions: () => undefined })
      session.close()
      if (!isShown.current) return
      setItems(session.items)
      onItems(session.items)
      setStatus(`${session.server} answered in ${Math.round(performance.now() - start)} ms.`)
    } catch (error) {
      if (!isShown.current) return
      setEvents(last)
      setStatus(mcpProblemOf(error))
    }
  }
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void list()
        }}
      >
        <TextField isLong label="URL" value={url} options={urls} onValue={setUrl} />
        <TextField label="Token, if the route requires one" isSecret value={token} onValue={setToken} />
        <button class="main" type="submit">
          List tools
        </button>
        <p role="status">{status}</p>
      </form>
      {items !== undefined && <McpItems items={items} servers={servers} />}
      {events.length > 0 && <Explained explanation={explanationOf(events)} dump={dump} />}
    </>
  )
}
