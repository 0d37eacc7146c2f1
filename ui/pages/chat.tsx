// Does a model work through the gateway, and what does it cost? A chat by chat completions, with the tools that the
// user describes. The key stays in the memory of the page.
import { useEffect, useRef, useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import { summaryOf } from '#cli/trace/summary.ts'
import { type Dump, problemOf, type TraceEvent } from '../api.ts'
import { type ChatMessage, type ChatRequest, listModels, sendChat } from '../chat-call.ts'
import { listenerUrls } from '../listener-urls.ts'
import { ActionsOff, mayAct } from '../parts/actions-off.tsx'
import { Explained } from '../parts/explained.tsx'
import { TextArea, TextField } from '../parts/fields.tsx'

const PATH = '/v1/chat/completions'
const MODELS_MAX = 1000

interface Settings {
  readonly url: string
  readonly key: string
  readonly model: string
  readonly tools: string
  readonly isStream: boolean
}

export function Chat({ dump }: { readonly dump: Dump }) {
  return mayAct(dump) ? <ChatForm url={`${listenerUrls(dump)[0] ?? 'http://localhost:8080'}${PATH}`} /> : <ActionsOff />
}

function ChatForm({ url }: { readonly url: string }) {
  const [settings, setSettings] = useState<Settings>({ url, key: '', model: '', tools: '', isStream: true })
  const [text, setText] = useState('')
  const { messages, events, status, isBusy, send, clear } = useChat()
  return (
    <>
      <ChatSettings settings={settings} onSettings={setSettings} />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send(settings, text)
          setText('')
        }}
      >
        <TextArea label="Message" rows={3} value={text} onValue={setText} />
        <button class="main" type="submit" disabled={isBusy}>
          Send
        </button>
        <button type="button" onClick={clear}>
          New chat
        </button>
        <p role="status">{status}</p>
      </form>
      <Messages messages={messages} />
      {events.length > 0 && <Explained explanation={explanationOf(events)} />}
    </>
  )
}

function ChatSettings({
  settings,
  onSettings,
}: {
  readonly settings: Settings
  readonly onSettings: (settings: Settings) => void
}) {
  const [models, setModels] = useState<readonly string[]>([])
  const [problem, setProblem] = useState('')
  const change = (part: Partial<Settings>): void => onSettings({ ...settings, ...part })
  const list = async (): Promise<void> => {
    try {
      const found = await listModels(settings, new AbortController().signal)
      setModels(found.slice(0, MODELS_MAX))
      setProblem(`The gateway offers ${found.length} models.`)
      if (settings.model === '' && found[0] !== undefined) change({ model: found[0] })
    } catch (error) {
      setProblem(problemOf(error))
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void list()
      }}
    >
      <TextField label="URL" value={settings.url} onValue={(url) => change({ url })} />
      <TextField
        label="Key, if the route requires one"
        isSecret
        value={settings.key}
        onValue={(key) => change({ key })}
      />
      <TextField label="Model" value={settings.model} options={models} onValue={(model) => change({ model })} />
      <button type="submit">List models</button>
      <label class="check">
        <input
          type="checkbox"
          checked={settings.isStream}
          onChange={({ currentTarget }) => change({ isStream: currentTarget.checked })}
        />
        Stream
      </label>
      <TextArea
        label="Tools, as a JSON array in the format of the API"
        rows={2}
        value={settings.tools}
        placeholder={'[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]'}
        onValue={(tools) => change({ tools })}
      />
      <p role="status">{problem}</p>
    </form>
  )
}

function useChat() {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [events, setEvents] = useState<readonly TraceEvent[]>([])
  const [status, setStatus] = useState('')
  const [isBusy, setBusy] = useState(false)
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const clear = (): void => {
    stop.current.abort()
    setMessages([])
    setEvents([])
    setStatus('')
  }
  const send = async (settings: Settings, text: string): Promise<void> => {
    const asked = [...messages, { role: 'user', content: text }]
    stop.current = new AbortController()
    setMessages(asked)
    setEvents([])
    setBusy(true)
    setStatus('Waiting for the model.')
    try {
      await sendChat(requestOf(settings, asked), {
        signal: stop.current.signal,
        onMessage: (message) => setMessages([...asked, message]),
        onEvent: (event) => {
          setEvents((all) => [...all, event])
          if (event.message.type === 'llmUsage') setStatus(summaryOf(event))
        },
      })
      setStatus((known) => (known.startsWith('Waiting') ? '' : known))
    } catch (error) {
      setStatus(error instanceof SyntaxError ? error.message : problemOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { messages, events, status, isBusy, send, clear }
}

/** @throws {SyntaxError} The tools are not a JSON array. */
function requestOf({ tools, ...settings }: Settings, messages: readonly ChatMessage[]): ChatRequest {
  const parsed: unknown = tools.trim() === '' ? [] : JSON.parse(tools)
  if (!Array.isArray(parsed)) throw new SyntaxError('the tools must be a JSON array')
  return { ...settings, messages, tools: parsed }
}

function Messages({ messages }: { readonly messages: readonly ChatMessage[] }) {
  if (messages.length === 0) return <p class="soft">Choose a model, and send a message.</p>
  return (
    <ol class="chat" aria-label="Messages">
      {messages.map(({ role, content, tool_calls: calls = [] }, index) => (
        <li key={index}>
          <b>{role}</b>
          {content !== null && <div class="text">{content}</div>}
          {calls.map((call, at) => (
            <pre key={at} tabIndex={0} aria-label={`Call of ${call.function.name}`}>
              {call.function.name}({call.function.arguments})
            </pre>
          ))}
        </li>
      ))}
    </ol>
  )
}
