// A watcher of /debug/trace for tests: collects the events of one request. Not used by the proxy.
import { request, type IncomingMessage } from 'node:http'
import type { TraceEvent } from './trace-writer.ts'

export interface TestWatcher {
  readonly response: IncomingMessage
  readonly comments: readonly string[]
  /** Resolves when the stream ended. */
  readonly ended: Promise<TraceEvent[]>
  close(): void
}

export interface WatchOptions {
  readonly adminPort: number
  readonly expression?: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
}

/** Resolves when every worker is armed; an answer other than a stream resolves at once. */
export async function watchTrace(options: WatchOptions): Promise<TestWatcher> {
  const { adminPort, expression, method = 'POST', headers = {} } = options
  const query = expression === undefined ? '' : `?expression=${encodeURIComponent(expression)}`
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const call = request({ host: '127.0.0.1', port: adminPort, path: `/debug/trace${query}`, method, headers }, resolve)
  call.on('error', reject)
  call.end()
  const response = await answered
  const comments: string[] = []
  const events: TraceEvent[] = []
  const armed = Promise.withResolvers<void>()
  const over = Promise.withResolvers<TraceEvent[]>()
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      if (block.startsWith(': ')) comments.push(block.slice(2))
      else if (block.startsWith('data: ')) events.push(JSON.parse(block.slice(6)))
      if (block === ': ready') armed.resolve()
    }
  })
  response.on('error', () => undefined)
  response.on('close', () => {
    armed.resolve()
    over.resolve(events)
  })
  if (response.statusCode === 200) await armed.promise
  return { response, comments, ended: over.promise, close: () => call.destroy() }
}

/** Of a plain request with bodies, as `outline` has them: the chapter Events of the specification. */
export const EVENT_ORDER: readonly string[] = [
  'requestStarted',
  'requestSnapshot initial request',
  'policySelection gateway',
  'requestSnapshot gateway policies',
  'routeSelection',
  'policySelection route',
  'requestSnapshot route policies',
  'policySelection backend',
  'requestSnapshot final request',
  'backendCallStart',
  'bodySnapshot final request',
  'backendCallResult',
  'responseSnapshot raw response',
  'responseSnapshot backend response ready',
  'responseSnapshot final response',
  'bodySnapshot response',
  'requestFinished',
]

/** `type` of each event, with the stage, phase or kind that distinguishes it from others of its type. */
export function outline(events: readonly TraceEvent[]): string[] {
  return events.map(({ message, scope = [] }) => {
    const detail = message.stage ?? message.phase ?? message.kind
    const own = detail === undefined ? message.type : `${message.type} ${detail}`
    return [...scope, own].join(' > ')
  })
}

export function messageOf(events: readonly TraceEvent[], type: string, stage?: string): TraceEvent['message'] {
  const found = events.find(({ message }) => message.type === type && (stage === undefined || message.stage === stage))
  if (found === undefined) throw new Error(`no ${type} ${stage ?? ''} in ${outline(events).join(', ')}`)
  return found.message
}

/** Text of a recorded body. */
export function bodyOf(events: readonly TraceEvent[], stage: string): string {
  return Buffer.from(messageOf(events, 'bodySnapshot', stage).body ?? '', 'base64').toString('utf8')
}
