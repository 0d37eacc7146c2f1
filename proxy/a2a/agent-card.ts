// A2A: the addresses in an agent's card must point to the gateway, not past it (data-plane supplement section 4.8).
// Cards whose addresses cannot be rewritten are not forwarded.
import { isRecord, parseJson } from '#api/json.ts'
import type { BackendHandler } from '../chain/handler.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { A2aFacts } from '../exchange/facts.ts'
import type { CardRequest } from '../exchange/slots.ts'
import type { HttpResponse } from '../message/message.ts'
import type { NamedFilter } from '../chain/filter.ts'
import { discardBody } from '../http/body-writer.ts'
import { isJson, observeAnswer, observeCall } from './call-facts.ts'
import { type CardPlace, isAgentCard, shownCard } from './card-addresses.ts'
import { failByDefect } from '../exchange/defects.ts'

/** Well-known paths of an agent card; they have no other use. */
const WELL_KNOWN = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const
/** Cards for authenticated clients: A2A 1.0, 0.3 and 0.2. An agent may use the paths for something else. */
const EXTENDED = ['/extendedAgentCard', '/v1/card', '/agent/authenticatedExtendedCard'] as const
/** Headers that describe the original card. */
const DIGEST_FIELDS = ['content-length', 'content-digest', 'repr-digest', 'digest', 'content-md5']

/** Runs before the other filters of a route: later ones may rewrite the path of the client. */
export const rememberCardRequest: NamedFilter = {
  name: 'a2a',
  filter: (exchange) => {
    const { method, path, host, scheme, headers } = exchange.request
    if (method === 'POST' || method === 'GET') {
      const proto = headers.get('x-forwarded-proto')
      exchange.cardRequest = { origin: `${proto === 'http' || proto === 'https' ? proto : scheme}://${host}`, path }
    }
    return undefined
  },
}

interface Agent {
  readonly inner: BackendHandler
  readonly bufferBytesMax: number
}

/** `inner`: the handler that calls the agent. */
export function a2aBackend(inner: BackendHandler, bufferBytesMax: number): BackendHandler {
  const agent = { inner, bufferBytesMax }
  return (exchange, done) => {
    const { request, cardRequest } = exchange
    const suffix = request.method === 'GET' ? suffixOf(request.path) : undefined
    if (cardRequest !== undefined && suffix !== undefined) askForCard(exchange, { ...agent, cardRequest, suffix, done })
    else if (cardRequest !== undefined && request.method === 'POST')
      callAgent(exchange, { ...agent, cardRequest, done })
    else inner(exchange, done)
  }
}

interface Asked extends Agent {
  readonly cardRequest: CardRequest
  readonly done: (exchange: Exchange) => void
}

function askForCard(exchange: Exchange, asked: Asked & { readonly suffix: string }): void {
  const { request } = exchange
  const { cardRequest, suffix } = asked
  // The response is read here as a whole.
  for (const name of ['accept-encoding', 'range', 'if-range']) request.headers.remove(name)
  const isWellKnown = WELL_KNOWN.some((one) => one === suffix)
  // A route that changes the end of the path has no base path.
  const base = cardRequest.path.endsWith(suffix) ? cardRequest.path.slice(0, -suffix.length) : ''
  const agentBase = request.path.slice(0, -suffix.length)
  asked.inner(exchange, (answered) => {
    const { response } = answered
    if (response === undefined || response.isLocal || !hasContent(response)) {
      asked.done(answered)
      return
    }
    const place = { origin: cardRequest.origin, base, agentBase, isWellKnown, endpoint: answered.endpoint }
    const rewriting = { ...asked, mustBeCard: isWellKnown, mustBeRead: true, show: shownWhole(place) }
    finish(answered, asked, rewriteAnswer(answered, response, rewriting))
  })
}

/** A call: its method is for the log; a response that may be a card is read. */
function callAgent(exchange: Exchange, asked: Asked): void {
  const { request } = exchange
  const facts = observeCall(exchange, asked.bufferBytesMax)
  request.headers.remove('accept-encoding')
  const { path } = request
  asked.inner(exchange, (answered) => {
    const { response } = answered
    const observe = (): void => {
      if (facts !== undefined) observeAnswer(answered, facts, asked.bufferBytesMax)
    }
    if (response === undefined || response.isLocal || !hasContent(response) || !mayBeCard(facts, response)) {
      observe()
      asked.done(answered)
      return
    }
    const bases = basesOf(asked.cardRequest.path, path)
    const place = { origin: asked.cardRequest.origin, ...bases, isWellKnown: false, endpoint: answered.endpoint }
    const rewriting = { ...asked, mustBeCard: false, mustBeRead: facts?.asks === 'Card', show: shownResults(place) }
    finish(answered, asked, rewriteAnswer(answered, response, rewriting), observe)
  })
}

/** The request body was too large or had an unreadable type, so the call may have requested a card. */
function mayBeCard(facts: A2aFacts | undefined, { headers }: HttpResponse): boolean {
  const type = headers.get('content-type')
  if (facts?.asks === 'Card') return type?.startsWith('text/event-stream') !== true
  return facts?.asks !== 'Other' && isJson(type)
}

function hasContent({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300 && status !== 204 && status !== 205
}

function finish(exchange: Exchange, { done }: Asked, rewritten: Promise<void>, then: () => void = () => {}): void {
  rewritten.then(
    () => {
      then()
      done(exchange)
    },
    (error: unknown) => {
      failByDefect(exchange, 'agent card', error)
      done(exchange)
    },
  )
}

/** undefined: the result contains no card. */
type Show = (json: unknown) => unknown

function shownWhole(place: CardPlace): Show {
  return (json) => (isAgentCard(json) ? shownCard(json, place) : undefined)
}

/** Results of JSON-RPC: one, or a batch. */
function shownResults(place: CardPlace): Show {
  const one = (answer: unknown): unknown => {
    if (!isRecord(answer) || !isAgentCard(answer['result'])) return undefined
    return { ...answer, result: shownCard(answer['result'], place) }
  }
  return (json) => {
    if (!Array.isArray(json)) return one(json)
    const shown = json.map((answer: unknown) => one(answer))
    return shown.some((each) => each !== undefined) ? shown.map((each, at) => each ?? (json[at] as unknown)) : undefined
  }
}

interface Rewriting {
  readonly bufferBytesMax: number
  /** Other responses are not forwarded. */
  readonly mustBeCard: boolean
  /** A response that cannot be read is not forwarded. */
  readonly mustBeRead: boolean
  readonly show: Show
}

async function rewriteAnswer(exchange: Exchange, response: HttpResponse, rewriting: Rewriting): Promise<void> {
  let bytes: Buffer | undefined
  try {
    bytes = await bytesOf(response, rewriting.bufferBytesMax)
  } catch (error) {
    exchange.fail('upstreamFailure', { log: `agent card: ${String(error)}`, client: 'the agent card is incomplete' })
    return
  }
  if (bytes === undefined) {
    if (!rewriting.mustBeRead) return
    discardBody(response.body)
    exchange.failVisibly('upstreamFailure', 'agent card: compressed, or larger than the buffer')
    return
  }
  const shown = rewriting.show(parseJson(bytes.toString('utf8')))
  if (shown !== undefined) {
    response.body = Buffer.from(JSON.stringify(shown))
    for (const name of DIGEST_FIELDS) response.headers.remove(name)
  } else if (rewriting.mustBeCard) {
    exchange.failVisibly('upstreamFailure', 'agent card: not a JSON object with the address of the agent')
  } else response.body = bytes
}

/** undefined: the body is unchanged. */
async function bytesOf({ body, headers }: HttpResponse, bytesMax: number): Promise<Buffer | undefined> {
  if (headers.has('content-encoding')) return undefined
  if (body === undefined || typeof body === 'string') return Buffer.from(body ?? '')
  if (Buffer.isBuffer(body)) return body
  return 'tryCollect' in body ? body.tryCollect(bytesMax) : undefined
}

/** The prefixes in which the paths of the client and the agent differ: both without their equal last segments. */
function basesOf(path: string, agentPath: string): { readonly base: string; readonly agentBase: string } {
  const own = segmentsOf(path)
  const agent = segmentsOf(agentPath)
  while (own.length > 0 && own.at(-1) === agent.at(-1)) {
    own.pop()
    agent.pop()
  }
  return { base: own.map((one) => `/${one}`).join(''), agentBase: agent.map((one) => `/${one}`).join('') }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((one) => one !== '')
}

function suffixOf(path: string): string | undefined {
  return [...WELL_KNOWN, ...EXTENDED].find((one) => path.endsWith(one))
}
