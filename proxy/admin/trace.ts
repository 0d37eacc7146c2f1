// `/debug/trace`: the trace of one request as server-sent events. Slow readers lose events; nothing here can hold up
// traffic.
import type { ServerResponse } from 'node:http'
import { readsOf } from '#api/cel/compile.ts'
import { environmentWith } from '#api/cel/user-functions.ts'
import { nameProblems } from '#api/cel/names.ts'
import type { TraceHub } from '../trace/hub.ts'
import { sendText } from './http-listener.ts'

const KEEPALIVE_MS = 1000
/** Events held for a reader that is behind. */
const EVENTS_HELD_MAX = 32
/** After the end of a trace, for a reader that is behind. */
const REST_MS_MAX = 30_000
const EXPRESSION_CHARACTERS_MAX = 16_384

export interface TraceParts {
  readonly traces: TraceHub
  /** Functions that the configuration in force declares. */
  readonly customFunctions: () => string | undefined
}

export function answerTrace(
  { traces: hub, customFunctions }: TraceParts,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const expression = query.get('expression') ?? undefined
  const problem = expression === undefined ? undefined : problemOf(expression, customFunctions())
  if (problem !== undefined) {
    sendText(response, 400, `expression: ${problem}\n`)
    return
  }
  if (response.req.method === 'HEAD') {
    response.writeHead(200, HEADERS).end()
    return
  }
  const stream = new EventStream(response, () => hub.dropped++)
  const watch = hub.watch(expression, {
    ready: () => stream.comment('ready'),
    event: (json) => stream.event(json),
    failed: (message, count) => stream.comment(`the expression fails for ${count} requests: ${oneLine(message)}`),
    end: () => stream.end(),
  })
  if (watch === undefined) {
    sendText(response, 503, 'too many requests are being traced; end one of them\n')
    return
  }
  stream.open(() => watch.stop())
}

function problemOf(expression: string, functions: string | undefined): string | undefined {
  if (expression.length > EXPRESSION_CHARACTERS_MAX) return `must not be longer than ${EXPRESSION_CHARACTERS_MAX}`
  const found = readsOf(expression, environmentWith(functions))
  const [problem] = 'problem' in found ? [found.problem] : nameProblems(expression, found, 'routing')
  if (problem === undefined) return undefined
  const { message, line, column } = problem
  return `${message} (line ${line}, column ${column})`
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ')
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const

class EventStream {
  readonly #response: ServerResponse
  readonly #held: string[] = []
  readonly #onDrop: () => void
  /** Of those there was no room for; the last event of a trace says how the request ended. */
  #last: string | undefined = undefined
  #dropped = 0
  #keepalive: NodeJS.Timeout | undefined = undefined
  #rest: NodeJS.Timeout | undefined = undefined
  #isFull = false
  #isEnding = false

  constructor(response: ServerResponse, onDrop: () => void) {
    this.#response = response
    this.#onDrop = onDrop
  }

  open(onClose: () => void): void {
    this.#response.writeHead(200, HEADERS)
    this.#response.flushHeaders()
    this.#keepalive = setInterval(() => this.comment('keepalive'), KEEPALIVE_MS)
    // A reader that breaks off while something is written is one that left.
    this.#response.on('error', () => undefined)
    this.#response.on('drain', () => this.#flush())
    this.#response.on('close', () => {
      clearInterval(this.#keepalive)
      clearTimeout(this.#rest)
      onClose()
    })
  }

  comment(text: string): void {
    if (!this.#isFull && !this.#isEnding) this.#write(`: ${text}\n\n`)
  }

  event(json: string): void {
    const text = `data: ${json}\n\n`
    if (!this.#isFull) this.#write(text)
    else if (this.#held.length < EVENTS_HELD_MAX) this.#held.push(text)
    else {
      if (this.#last !== undefined) this.#drop()
      this.#last = text
    }
  }

  #drop(): void {
    this.#dropped++
    this.#onDrop()
  }

  end(): void {
    this.#isEnding = true
    clearInterval(this.#keepalive)
    if (this.#dropped > 0) this.#held.push(`: ${this.#dropped} events were dropped\n\n`)
    if (this.#last !== undefined) this.#held.push(this.#last)
    if (this.#held.length === 0) this.#response.end()
    // Connections of readers that stopped would add up.
    this.#rest = setTimeout(() => this.#response.destroy(), REST_MS_MAX)
    this.#rest.unref()
  }

  #write(text: string): void {
    this.#isFull = !this.#response.write(text)
  }

  #flush(): void {
    this.#isFull = false
    while (!this.#isFull) {
      const next = this.#held.shift()
      if (next === undefined) break
      this.#write(next)
    }
    if (this.#isEnding && this.#held.length === 0) this.#response.end()
  }
}
