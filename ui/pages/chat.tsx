// Does a model work through the gateway, and what does it cost? A chat in the format of a client, with images, and with
// the tools that the user describes. The key stays in the memory of the page.
import { useState } from 'preact/hooks'
import { explanationOf } from '#cli/explain/explanation.ts'
import { type Dump, problemOf } from '../api.ts'
import { listModels, withPath } from '../chat-call.ts'
import { CHAT_FORMATS } from '../chat-formats.ts'
import { type ChatImage, userMessage } from '../chat-message.ts'
import { listenerUrls } from '../listener-urls.ts'
import { ActionsOff, mayAct } from '../parts/actions-off.tsx'
import { ChatMessages } from '../parts/chat-messages.tsx'
import { Explained } from '../parts/explained.tsx'
import { Choice, TextArea, TextField } from '../parts/fields.tsx'
import { ImageField } from '../parts/image-field.tsx'
import { type ChatSettings, useChat } from '../use-chat.ts'

const FORMAT_NAMES = CHAT_FORMATS.map(({ name }) => name)
const MODELS_MAX = 1000

export function Chat({ dump }: { readonly dump: Dump }) {
  if (!mayAct(dump)) return <ActionsOff />
  const [path = ''] = CHAT_FORMATS.map((format) => format.path)
  return <ChatForm url={`${listenerUrls(dump)[0] ?? 'http://localhost:8080'}${path}`} dump={dump} />
}

function ChatForm({ url, dump }: { readonly url: string; readonly dump: Dump }) {
  const [settings, setSettings] = useState<ChatSettings>({
    url,
    format: FORMAT_NAMES[0] ?? '',
    key: '',
    model: '',
    tools: '',
    isStream: true,
  })
  const [text, setText] = useState('')
  const [images, setImages] = useState<readonly ChatImage[]>([])
  const { messages, events, raw, status, isBusy, send, clear } = useChat()
  return (
    <>
      <Settings settings={settings} onSettings={setSettings} />
      <ChatMessages messages={messages} isBusy={isBusy} onResults={(results) => void send(settings, results)} />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send(settings, [userMessage(text, images)])
          setText('')
          setImages([])
        }}
      >
        <TextArea label="Message" rows={3} value={text} onValue={setText} />
        <ImageField images={images} onImages={setImages} />
        <button class="main" type="submit" disabled={isBusy}>
          Send
        </button>
        <button type="button" onClick={clear}>
          New chat
        </button>
        <p role="status">{status}</p>
      </form>
      {events.length > 0 && <Explained explanation={explanationOf(events)} dump={dump} />}
      {raw !== '' && (
        <details>
          <summary>Response as it arrived</summary>
          <pre tabIndex={0} aria-label="Response as it arrived">
            {raw}
          </pre>
        </details>
      )}
    </>
  )
}

interface SettingsProps {
  readonly settings: ChatSettings
  readonly onSettings: (settings: ChatSettings) => void
}

function Settings({ settings, onSettings }: SettingsProps) {
  const [models, setModels] = useState<readonly string[]>([])
  const [problem, setProblem] = useState('')
  const change = (part: Partial<ChatSettings>): void => onSettings({ ...settings, ...part })
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
      <Choice
        label="Format"
        value={settings.format}
        options={FORMAT_NAMES}
        onValue={(format) => {
          const { path = '' } = CHAT_FORMATS.find(({ name }) => name === format) ?? {}
          change({ format, url: withPath(settings.url, path) })
        }}
      />
      <TextField isLong label="URL" value={settings.url} onValue={(url) => change({ url })} />
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
      <p role="status">{problem}</p>
      <details class="wide" open={settings.tools !== ''}>
        <summary>Tools</summary>
        <TextArea
          label="Tools, as a JSON array in the format of chat completions"
          rows={3}
          value={settings.tools}
          placeholder={'[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]'}
          onValue={(tools) => change({ tools })}
        />
      </details>
    </form>
  )
}
