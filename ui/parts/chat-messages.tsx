// The messages of a chat, with images, calls of tools, and a form for the results of these calls.
import { useState } from 'preact/hooks'
import { type ChatMessage, dataUrl, toolResult } from '../chat-message.ts'
import { TextArea } from './fields.tsx'

const NAMES = { user: 'You', assistant: 'Model', tool: 'Result of a tool' } as const

export interface ChatMessagesProps {
  readonly messages: readonly ChatMessage[]
  readonly isBusy: boolean
  readonly onResults: (results: readonly ChatMessage[]) => void
}

export function ChatMessages({ messages, isBusy, onResults }: ChatMessagesProps) {
  const calls = messages.at(-1)?.calls ?? []
  if (messages.length === 0) return <p class="soft">Choose a model, and send a message.</p>
  return (
    <>
      <ol class="chat" aria-label="Messages">
        {messages.map((message, index) => (
          <Message key={index} message={message} />
        ))}
      </ol>
      {calls.length > 0 && !isBusy && <Results key={messages.length} calls={calls} onResults={onResults} />}
    </>
  )
}

function Message({ message: { role, text, images, calls, use = '' } }: { readonly message: ChatMessage }) {
  return (
    <li class={role}>
      <div class="soft">{NAMES[role]}</div>
      {text !== '' && <div class="text">{text}</div>}
      {images.map((image) => (
        <img key={image.name} src={dataUrl(image)} alt={image.name} />
      ))}
      {calls.map((call, at) => (
        <pre key={at} tabIndex={0} aria-label={`Call of ${call.name}`}>
          {call.name}({call.arguments})
        </pre>
      ))}
      {use !== '' && <div class="soft use">{use}</div>}
    </li>
  )
}

interface ResultsProps {
  readonly calls: ChatMessage['calls']
  readonly onResults: ChatMessagesProps['onResults']
}

/** The page runs no tool: the user says what it gives. */
function Results({ calls, onResults }: ResultsProps) {
  const [texts, setTexts] = useState<readonly string[]>(calls.map(() => ''))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onResults(calls.map(({ id }, at) => toolResult(id, texts[at] ?? '')))
      }}
    >
      {calls.map(({ name }, at) => (
        <TextArea
          key={at}
          label={`Result of ${name}`}
          rows={2}
          value={texts[at] ?? ''}
          onValue={(text) => setTexts(texts.with(at, text))}
        />
      ))}
      <button type="submit">Send results</button>
    </form>
  )
}
