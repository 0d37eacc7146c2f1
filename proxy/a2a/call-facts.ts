// Facts for the log about a call of an agent: its JSON-RPC method, and the outcome (data-plane supplement
// section 4.8). Copies bodies as they pass, up to the buffer limit; does not change or delay them.
import { parseJson } from '#api/json.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { A2aFacts } from '../exchange/facts.ts'
import { SseParser, SseTooLarge } from '../http/sse.ts'
import { BodyRecorder, recordBody } from '../log/recorded-body.ts'
import type { BodyObserver } from '../message/incoming-body.ts'

const UNKNOWN = 'unknown'
const EVENT_STREAM = /^text\/event-stream\s*(?:;|$)/i
/** Methods that return the card for authenticated clients: A2A 1.0, 0.3. */
const CARD_METHODS: ReadonlySet<string> = new Set(['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard'])

/** Before the call: reads the method from the request. Only a POST with JSON is a call of an agent. */
export function observeCall(exchange: Exchange, bytesMax: number): A2aFacts | undefined {
  const { request } = exchange
  if (request.method !== 'POST' || !isJson(request.headers.get('content-type'))) return undefined
  const facts: A2aFacts = {
    method: UNKNOWN,
    asks: 'Unknown',
    outcome: undefined,
    errorCode: undefined,
    resultKind: undefined,
    taskState: undefined,
    contextId: undefined,
  }
  exchange.a2a = facts
  const recorder = new BodyRecorder(bytesMax, ({ bytes, isTruncated }) => {
    const call = isTruncated ? undefined : objectIn(bytes.toString('utf8'))
    const method = call?.['method']
    if (typeof method === 'string' && method !== '') facts.method = method
    if (call !== undefined) facts.asks = CARD_METHODS.has(facts.method) ? 'Card' : 'Other'
  })
  // The body of a request is bytes, or arrives on a connection; neither is replaced.
  recordBody(request.body, recorder)
  return facts
}

/** After the call: reads the outcome from a JSON response, or from the events of a stream as they pass. */
export function observeAnswer({ response }: Exchange, facts: A2aFacts, bytesMax: number): void {
  if (response === undefined || response.isLocal || response.headers.has('content-encoding')) return
  const { status, headers } = response
  const type = headers.get('content-type')
  if (EVENT_STREAM.test(type ?? '')) response.body = recordBody(response.body, new EventReader(facts, bytesMax))
  if (!isJson(type)) return
  const recorder = new BodyRecorder(bytesMax, ({ bytes, isTruncated }) => {
    if (!isTruncated) learn(facts, objectIn(bytes.toString('utf8')), status)
  })
  response.body = recordBody(response.body, recorder)
}

/** Reads each event: a response of JSON-RPC, or the object of the HTTP binding. */
class EventReader implements BodyObserver {
  readonly #facts: A2aFacts
  /** undefined: an event was larger than the buffer. */
  #parser: SseParser | undefined

  constructor(facts: A2aFacts, bytesMax: number) {
    this.#facts = facts
    this.#parser = new SseParser(bytesMax)
  }

  seen(buffer: Buffer, start: number, end: number): void {
    try {
      for (const { data } of this.#parser?.push(buffer.subarray(start, end)) ?? []) learn(this.#facts, objectIn(data))
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error
      this.#parser = undefined
    }
  }

  over(): void {
    this.#parser = undefined
  }
}

type Members = Readonly<Record<string, unknown>>

/** Of a stream, an error stays the outcome. */
function learn(facts: A2aFacts, answer: Members | undefined, status = 200): void {
  const { error, code, result } = partsOf(answer)
  const hasFailed = error !== undefined || (result === undefined && status >= 400)
  if (facts.outcome !== 'error') facts.outcome = outcomeOf(hasFailed, result) ?? facts.outcome ?? UNKNOWN
  if (typeof code === 'number') facts.errorCode = code
  if (error === undefined && result !== undefined) learnResult(facts, result)
}

function partsOf(answer: Members | undefined) {
  const error = membersOf(answer?.['error'])
  return { error, code: error?.['code'], result: membersOf(answer?.['result']) ?? restResult(answer) }
}

function outcomeOf(hasFailed: boolean, result: Members | undefined): 'error' | 'success' | undefined {
  if (hasFailed) return 'error'
  return result === undefined ? undefined : 'success'
}

/** Of a stream, the first kind that is not an update counts, and the last state. */
function learnResult(facts: A2aFacts, result: Members): void {
  const { kind, object } = resultIn(result)
  const status = membersOf(object['status'])
  if (facts.resultKind === undefined || UPDATES.has(facts.resultKind)) facts.resultKind = kind ?? facts.resultKind
  facts.taskState = (status && textIn(status, 'state')) ?? facts.taskState
  facts.contextId = textIn(object, 'contextId') ?? facts.contextId
}

/** Members of version 1.0, and of the HTTP binding of both versions, with the kinds of version 0.3. */
const KINDS = [
  ['task', 'task'],
  ['message', 'message'],
  ['statusUpdate', 'status-update'],
  ['artifactUpdate', 'artifact-update'],
] as const
const UPDATES: ReadonlySet<string> = new Set(['status-update', 'artifact-update'])

/** Of the HTTP binding, which has no envelope; undefined: an object without facts. */
function restResult(answer: Members | undefined): Members | undefined {
  if (answer === undefined) return undefined
  if (KINDS.some(([name]) => membersOf(answer[name]) !== undefined)) return answer
  const isTask = typeof answer['id'] === 'string' && membersOf(answer['status']) !== undefined
  return isTask ? { task: answer } : undefined
}

/** Version 0.3 has the object with its kind, version 1.0 has the object under the name of its kind. */
function resultIn(result: Members): { readonly kind: string | undefined; readonly object: Members } {
  const kind = textIn(result, 'kind')
  if (kind !== undefined) return { kind, object: result }
  for (const [name, shown] of KINDS) {
    const object = membersOf(result[name])
    if (object !== undefined) return { kind: shown, object }
  }
  return { kind: undefined, object: result }
}

export function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/(?:a2a\+)?json\s*(?:;|$)/i.test(contentType)
}

function objectIn(text: string): Members | undefined {
  return membersOf(parseJson(text))
}

function membersOf(value: unknown): Members | undefined {
  // Null is excluded above: the value has members, although it may be an array.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

function textIn(members: Members, name: string): string | undefined {
  const value = members[name]
  return typeof value === 'string' ? value : undefined
}
