// Facts for the log about a call of an agent: its JSON-RPC method, and the outcome (data-plane supplement
// section 4.8). Copies bodies as they pass, up to the buffer limit; does not change or delay them.
import { parseJson } from '#api/json.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { A2aFacts } from '../exchange/facts.ts'
import { BodyRecorder, recordBody } from '../log/recorded-body.ts'

const UNKNOWN = 'unknown'
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
    const call = isTruncated ? undefined : objectIn(bytes)
    const method = call?.['method']
    if (typeof method === 'string' && method !== '') facts.method = method
    if (call !== undefined) facts.asks = CARD_METHODS.has(facts.method) ? 'Card' : 'Other'
  })
  // The body of a request is bytes, or arrives on a connection; neither is replaced.
  recordBody(request.body, recorder)
  return facts
}

/** After the call: reads the outcome from a JSON response. */
export function observeAnswer({ response }: Exchange, facts: A2aFacts, bytesMax: number): void {
  if (response === undefined || response.isLocal) return
  if (!isJson(response.headers.get('content-type')) || response.headers.has('content-encoding')) return
  const recorder = new BodyRecorder(bytesMax, ({ bytes, isTruncated }) => {
    if (!isTruncated) learn(facts, objectIn(bytes))
  })
  response.body = recordBody(response.body, recorder)
}

type Members = Readonly<Record<string, unknown>>

function learn(facts: A2aFacts, answer: Members | undefined): void {
  const error = membersOf(answer?.['error'])
  const result = membersOf(answer?.['result'])
  facts.outcome = error === undefined ? (result === undefined ? UNKNOWN : 'success') : 'error'
  const code = error?.['code']
  if (typeof code === 'number') facts.errorCode = code
  if (error !== undefined || result === undefined) return
  const { kind, object } = resultIn(result)
  const status = membersOf(object['status'])
  facts.resultKind = kind
  facts.taskState = status && textIn(status, 'state')
  facts.contextId = textIn(object, 'contextId')
}

/** Version 0.3 has the object with its kind, version 1.0 has the object under the name of its kind. */
function resultIn(result: Members): { readonly kind: string | undefined; readonly object: Members } {
  const kind = textIn(result, 'kind')
  if (kind !== undefined) return { kind, object: result }
  for (const name of ['task', 'message']) {
    const object = membersOf(result[name])
    if (object !== undefined) return { kind: name, object }
  }
  return { kind: undefined, object: result }
}

export function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/json\s*(?:;|$)/i.test(contentType)
}

function objectIn(bytes: Buffer): Members | undefined {
  return membersOf(parseJson(bytes.toString('utf8')))
}

function membersOf(value: unknown): Members | undefined {
  // Null is excluded above: the value has members, although it may be an array.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

function textIn(members: Members, name: string): string | undefined {
  const value = members[name]
  return typeof value === 'string' ? value : undefined
}
