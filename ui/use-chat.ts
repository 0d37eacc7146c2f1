// The state of a chat: its messages, the trace and the raw response of the last call, and what each answer used.
import { useEffect, useRef, useState } from 'preact/hooks'
import { summaryOf } from '#cli/trace/summary.ts'
import { problemOf, type TraceEvent } from './api.ts'
import { sendChat } from './chat-call.ts'
import { CHAT_FORMATS } from './chat-formats.ts'
import type { ChatMessage } from './chat-message.ts'
import { latencyText } from './parts/numbers.ts'

export interface ChatSettings {
  readonly url: string
  /** Of a format. */
  readonly format: string
  readonly key: string
  readonly model: string
  readonly tools: string
  readonly isStream: boolean
}

/** Of the raw response. */
const RAW_CHARACTERS_MAX = 200_000

export function useChat() {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [events, setEvents] = useState<readonly TraceEvent[]>([])
  const [raw, setRaw] = useState('')
  const [status, setStatus] = useState('')
  const [isBusy, setBusy] = useState(false)
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const clear = (): void => {
    stop.current.abort()
    setMessages([])
    setEvents([])
    setRaw('')
    setStatus('')
  }
  const send = async (settings: ChatSettings, added: readonly ChatMessage[]): Promise<void> => {
    const asked = [...messages, ...added]
    const { signal } = (stop.current = new AbortController())
    const clock = new Clock()
    setMessages(asked)
    setEvents([])
    setRaw('')
    setBusy(true)
    setStatus('Waiting for the model.')
    let answer: ChatMessage | undefined
    let used = ''
    const show = (): void => {
      if (answer !== undefined && !signal.aborted) setMessages([...asked, { ...answer, use: used }])
    }
    try {
      answer = await sendChat(requestOf(settings, asked), {
        signal,
        onMessage: (message) => {
          clock.first()
          answer = message
          show()
        },
        onEvent: (event) => {
          setEvents((all) => [...all, event])
          if (event.message.type === 'llmUsage') used = summaryOf(event)
        },
        onRaw: (line) => setRaw((all) => (all.length > RAW_CHARACTERS_MAX ? all : `${all}${line}\n`)),
      })
      used = [used, clock.text()].filter((part) => part !== '').join(', ')
      show()
      setStatus('')
    } catch (error) {
      if (!signal.aborted) setStatus(error instanceof SyntaxError ? error.message : problemOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { messages, events, raw, status, isBusy, send, clear }
}

/** Of one call, as the page sees it. */
class Clock {
  readonly #start = performance.now()
  #first: number | undefined = undefined

  first(): void {
    this.#first ??= performance.now()
  }

  text(): string {
    const whole = `${latencyText((performance.now() - this.#start) / 1000)} in all`
    const first = this.#first === undefined ? '' : `first text after ${latencyText((this.#first - this.#start) / 1000)}`
    return [first, whole].filter((part) => part !== '').join(', ')
  }
}

/** @throws {SyntaxError} The tools are not a JSON array. */
function requestOf(
  { tools, format, ...settings }: ChatSettings,
  messages: readonly ChatMessage[],
): Parameters<typeof sendChat>[0] {
  const parsed: unknown = tools.trim() === '' ? [] : JSON.parse(tools)
  if (!Array.isArray(parsed)) throw new SyntaxError('the tools must be a JSON array')
  const found = CHAT_FORMATS.find(({ name }) => name === format) ?? CHAT_FORMATS[0]
  if (found === undefined) throw new SyntaxError('the format is not known')
  return { ...settings, format: found, messages, tools: parsed }
}
