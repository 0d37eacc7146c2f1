// A2A: an agent's card must lead its readers back to the gateway, not past it (data-plane supplement section 4.8).
// Addresses in a card that cannot be rewritten are not passed on.
import { parseJson } from '#api/json.ts'
import type { BackendHandler } from '../backend/handler.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../http/message.ts'
import type { NamedFilter } from '../plan.ts'
import { observeAnswer, observeCall } from './call-facts.ts'

const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const

/** Where the client asked for a card, and how much of the path belongs to the card itself. */
export interface CardRequest {
  /** `scheme://host` of the gateway. */
  readonly origin: string
  /** Of the gateway's path, before the card's own. */
  readonly base: string
}

/** First of a route's filters: later ones may rewrite what the client asked for. */
export const rememberCardRequest: NamedFilter = {
  name: 'a2a',
  filter: (exchange) => {
    const { method, path, host, scheme, headers } = exchange.request
    const base = method === 'GET' ? baseOf(path) : undefined
    if (base !== undefined) {
      const proto = headers.get('x-forwarded-proto')
      exchange.cardRequest = { origin: `${proto === 'http' || proto === 'https' ? proto : scheme}://${host}`, base }
    }
    return undefined
  },
}

/** `inner`: the agent. */
export function a2aBackend(inner: BackendHandler, bufferBytesMax: number): BackendHandler {
  return (exchange, done) => {
    const { cardRequest, request } = exchange
    const agentBase = cardRequest === undefined ? undefined : baseOf(request.path)
    if (cardRequest === undefined || agentBase === undefined) {
      callAgent(exchange, { inner, bufferBytesMax, done })
      return
    }
    // What comes back is read here.
    request.headers.remove('accept-encoding')
    inner(exchange, (answered) => {
      const { response } = answered
      if (response === undefined || response.isLocal || response.status !== 200) {
        done(answered)
        return
      }
      const rewritten = rewriteCard(answered, response, { ...cardRequest, agentBase, bufferBytesMax })
      rewritten.then(
        () => done(answered),
        (error: unknown) => {
          answered.fail('upstreamFailure', {
            log: `agent card: ${String(error)}`,
            client: 'the agent card was cut short',
          })
          done(answered)
        },
      )
    })
  }
}

/** Anything but a card: goes by unchanged, and the log learns what it was. */
function callAgent(
  exchange: Exchange,
  to: { readonly inner: BackendHandler; readonly bufferBytesMax: number; readonly done: (exchange: Exchange) => void },
): void {
  const facts = observeCall(exchange, to.bufferBytesMax)
  if (facts === undefined) {
    to.inner(exchange, to.done)
    return
  }
  to.inner(exchange, (answered) => {
    observeAnswer(answered, facts, to.bufferBytesMax)
    to.done(answered)
  })
}

interface CardPlace extends CardRequest {
  /** What precedes the card in the path of the agent. */
  readonly agentBase: string
  readonly bufferBytesMax: number
}

async function rewriteCard(exchange: Exchange, response: HttpResponse, place: CardPlace): Promise<void> {
  const text = await textOf(response, place.bufferBytesMax)
  const card = text === undefined ? undefined : parse(text)
  if (card === undefined || !rewriteAddresses(card, place)) {
    exchange.failVisibly('upstreamFailure', 'agent card: not a JSON object with the address of the agent')
    return
  }
  response.body = Buffer.from(JSON.stringify(card))
  response.headers.remove('content-length')
}

async function textOf({ body, headers }: HttpResponse, bytesMax: number): Promise<string | undefined> {
  if (headers.has('content-encoding') || body === undefined) return undefined
  if (typeof body === 'string') return body
  if (Buffer.isBuffer(body)) return body.toString('utf8')
  if (!('tryCollect' in body)) return undefined
  return (await body.tryCollect(bytesMax))?.toString('utf8')
}

type Card = Record<string, unknown>

function parse(text: string): Card | undefined {
  const value = parseJson(text)
  return isCard(value) ? value : undefined
}

/** False: there is none. */
function rewriteAddresses(card: Card, place: CardPlace): boolean {
  const { url, supportedInterfaces } = card
  const interfaces = Array.isArray(supportedInterfaces) ? supportedInterfaces.filter(isCard) : []
  if (typeof url === 'string') card['url'] = `${place.origin}${place.base}`
  for (const one of interfaces) {
    if (typeof one['url'] === 'string') one['url'] = anchored(one['url'], place)
  }
  return typeof url === 'string' || interfaces.length > 0
}

/** At the gateway, below what the client has to put before the paths of the agent. */
function anchored(url: string, { origin, base, agentBase }: CardPlace): string {
  const path = URL.parse(url)?.pathname ?? ''
  const isBelow = path === agentBase || path.startsWith(`${agentBase}/`)
  const below = isBelow ? path.slice(agentBase.length) : path
  return `${origin}${base}${below === '/' ? '' : below}`
}

function baseOf(path: string): string | undefined {
  const suffix = CARD_PATHS.find((one) => path.endsWith(one))
  return suffix === undefined ? undefined : path.slice(0, -suffix.length)
}

function isCard(value: unknown): value is Card {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
