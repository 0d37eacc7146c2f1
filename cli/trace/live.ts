// A trace of a running proxy: the stream of its admin server, and the request that curl sends.
import { spawn } from 'node:child_process'
import type { EventLine } from './event-reader.ts'
import { EventReader } from './event-reader.ts'
import { AdminClient, type AdminTransport } from '../portforward/admin-client.ts'
import type { Injection } from './plan.ts'

/** Time for the rest of the trace after curl has exited. */
const REST_MS_MAX = 5000
const ERROR_CHARACTERS_MAX = 4096

export interface LiveTrace {
  readonly admin: AdminTransport
  readonly expression: string | undefined
  readonly injection: Injection | undefined
  /** What the command waits for, and messages of curl. */
  readonly onStatus: (text: string) => void
  /** Ends the trace early; undefined: nothing does. */
  readonly signal: AbortSignal | undefined
  readonly onEvent: (line: EventLine) => void
}

/** Resolves when the traced request is over. @throws {Error} with the reason if the trace is incomplete */
export async function traceLive(trace: LiveTrace): Promise<void> {
  const { expression, injection } = trace
  const query = expression === undefined ? '' : `?expression=${encodeURIComponent(expression)}`
  const stop = new AbortController()
  const end = (): void => stop.abort()
  trace.signal?.addEventListener('abort', end, { once: true })
  if (trace.signal?.aborted === true) end()
  const sender = new Sender({ stopStream: end, onStatus: trace.onStatus })
  const reader = new EventReader(
    (line) => {
      sender.isTraced = true
      trace.onEvent(line)
    },
    () => {
      trace.onStatus(injection === undefined ? 'waiting for a request; press Ctrl-C to stop' : 'sending the request')
      if (injection !== undefined) sender.start(injection)
    },
  )
  try {
    const client = new AdminClient(trace.admin)
    const { status, chunks } = await client.open('POST', `/debug/trace${query}`, stop.signal)
    if (status !== 200) throw new Error(await refusal(status, chunks))
    for await (const chunk of chunks) reader.push(chunk)
  } catch (error) {
    throw await sender.reasonOf(error)
  } finally {
    sender.streamOver()
    trace.signal?.removeEventListener('abort', end)
  }
  await sender.ended()
}

/** Curl and the stream: when one fails, the other ends. */
class Sender {
  /** The stream has events. */
  isTraced = false
  readonly #stopStream: () => void
  readonly #onStatus: (text: string) => void
  readonly #stop = new AbortController()
  #sending: Promise<void> = Promise.resolve()
  #failure: Error | undefined = undefined
  #hasGivenUp = false
  #isStreamOver = false
  #timer: NodeJS.Timeout | undefined = undefined

  constructor({ stopStream, onStatus }: { readonly stopStream: () => void } & Pick<LiveTrace, 'onStatus'>) {
    this.#stopStream = stopStream
    this.#onStatus = onStatus
  }

  start(injection: Injection): void {
    this.#sending = send(injection, this.#onStatus, this.#stop.signal).then(
      () => this.#giveUpIn(REST_MS_MAX),
      (error: unknown) => {
        this.#failure = error instanceof Error ? error : new Error(String(error))
        this.#giveUpIn(this.isTraced ? REST_MS_MAX : 0)
      },
    )
  }

  /** @throws {Error} if curl failed */
  async ended(): Promise<void> {
    await this.#sending
    if (this.#failure !== undefined) throw this.#failure
  }

  /** The stream failed: returns the reason for the user, after curl has exited. */
  async reasonOf(error: unknown): Promise<unknown> {
    this.#stop.abort()
    await this.#sending
    if (this.#failure !== undefined) return this.#failure
    if (!this.#hasGivenUp) return error
    return new Error(
      'the request was sent, but no trace arrived: the proxy rejected the request before its head was complete (see the log of ' +
        'the proxy), or --expression does not match it',
    )
  }

  streamOver(): void {
    this.#isStreamOver = true
    clearTimeout(this.#timer)
  }

  /** The request is over for the client: its trace ends soon, or never began. */
  #giveUpIn(ms: number): void {
    if (this.#isStreamOver) return
    this.#timer = setTimeout(() => {
      this.#hasGivenUp = true
      this.#stopStream()
    }, ms)
  }
}

async function refusal(status: number, chunks: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk
    if (text.length > ERROR_CHARACTERS_MAX) break
  }
  return `the admin server returned ${status}: ${text.slice(0, ERROR_CHARACTERS_MAX).trim()}`
}

/** @throws {Error} if curl cannot be run or fails */
async function send(
  { args, authority, port }: Injection,
  onStatus: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const quiet = ['--silent', '--show-error', '--output', '/dev/null']
  const curl = spawn('curl', [...quiet, ...args, '--connect-to', `${authority}:127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // The request goes to the listener, not to a proxy of the environment.
    env: { ...process.env, NO_PROXY: '*', no_proxy: '*' },
    signal,
  })
  curl.stderr?.setEncoding('utf8').on('data', (text: string) => onStatus(text.trimEnd()))
  const code = await new Promise<number | string>((resolve, reject) => {
    curl.on('error', (error) => {
      if (signal.aborted) resolve(0)
      else reject(new Error(`cannot run curl: ${error.message}`))
    })
    curl.on('close', (exit, by) => resolve(exit ?? by ?? 'unknown'))
  })
  if (code !== 0 && !signal.aborted) throw new Error(`curl failed: exit code ${code}`)
}
