// Replaces the addresses of an agent in its card with those of the gateway. Pure; does not depend on messages.
import { isRecord } from '#api/json.ts'

export interface CardPlace {
  /** `scheme://host` of the gateway, as seen by the client. */
  readonly origin: string
  /** The prefix that the client adds to the paths of the agent. */
  readonly base: string
  /** The prefix of the same paths at the agent. */
  readonly agentBase: string
  /** The card of a well-known address: its `url` is the address of the request for the card. */
  readonly isWellKnown: boolean
  /** `host:port` of the agent that was called. */
  readonly endpoint: string | undefined
}

type Members = Record<string, unknown>

/** Lists of addresses: A2A 1.0, and 0.3. */
const INTERFACES = ['supportedInterfaces', 'additionalInterfaces'] as const
/** Cards are flat; a deeper value is not a card. */
const DEPTH_MAX = 64
const ADDRESS = /[a-z][a-z0-9+.-]{0,31}:\/\/[^\s"'<>\\^`{|}]+/gi

export class CardTooDeep extends Error {}

/** It contains an address of an agent. */
export function isAgentCard(value: unknown): value is Members {
  return isRecord(value) && (typeof value['url'] === 'string' || interfacesOf(value).length > 0)
}

/**
 * The card for clients of the gateway: without addresses of the agent, and without signatures, which
 * are not valid after a change.
 * @throws {CardTooDeep}
 */
export function shownCard(card: Members, place: CardPlace): Members {
  const { signatures: _, ...rest } = card
  const hosts = ownHosts(card, place)
  const shown = shownMembers(rest, { place, hosts }, 0)
  if (typeof card['url'] === 'string') {
    shown['url'] = place.isWellKnown ? place.origin + place.base : anchored(card['url'], place)
  }
  for (const name of INTERFACES) {
    const list = card[name]
    if (Array.isArray(list)) shown[name] = list.map((one: unknown) => shownInterface(one, { place, hosts }))
  }
  return shown
}

interface Walk {
  readonly place: CardPlace
  /** Of the agent, with its port. */
  readonly hosts: ReadonlySet<string>
}

function interfacesOf(card: Members): Members[] {
  return INTERFACES.flatMap((name) => {
    const list = card[name]
    return Array.isArray(list) ? list.filter(isRecord) : []
  })
}

/** Every address of an interface is an address of the agent, whatever its host. */
function shownInterface(value: unknown, walk: Walk): unknown {
  if (!isRecord(value)) return shownValue(value, walk, 0)
  const shown = shownMembers(value, walk, 0)
  if (typeof value['url'] === 'string') shown['url'] = anchored(value['url'], walk.place)
  return shown
}

/** Hosts of the agent according to its card, and the host that returned the card; never the host of the gateway. */
function ownHosts(card: Members, { origin, endpoint }: CardPlace): ReadonlySet<string> {
  const hosts = new Set<string>()
  if (endpoint !== undefined) hosts.add(endpoint.toLowerCase())
  for (const { url } of [card, ...interfacesOf(card)]) {
    const host = typeof url === 'string' ? hostAndPort(url) : undefined
    if (host !== undefined) hosts.add(host)
  }
  hosts.delete(hostAndPort(origin) ?? '')
  return hosts
}

function shownMembers(members: Members, walk: Walk, depth: number): Members {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, shownValue(value, walk, depth + 1)]))
}

function shownValue(value: unknown, walk: Walk, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new CardTooDeep(`the agent card has more than ${DEPTH_MAX} levels`)
  if (typeof value === 'string') return shownText(value, walk)
  if (Array.isArray(value)) return value.map((one: unknown) => shownValue(one, walk, depth + 1))
  return isRecord(value) ? shownMembers(value, walk, depth) : value
}

/** Texts, such as descriptions, also contain addresses. */
function shownText(text: string, { place, hosts }: Walk): string {
  if (!text.includes('://')) return text
  return text.replace(ADDRESS, (address) => {
    const host = hostAndPort(address)
    return host !== undefined && hosts.has(host) ? anchored(address, place) : address
  })
}

/** The same path at the gateway. */
function anchored(address: string, { origin, base, agentBase }: CardPlace): string {
  const url = URL.parse(address)
  const isPlain = url !== null && url.host !== ''
  const path = isPlain && url.pathname.startsWith('/') ? url.pathname : ''
  const isBelow = path === agentBase || path.startsWith(`${agentBase}/`)
  const below = isBelow ? path.slice(agentBase.length) : path
  const rest = isPlain ? url.search + url.hash : ''
  return `${origin}${base}${below === '/' ? '' : below}${rest}`
}

/** Lower case, with the default port of the scheme. undefined: not an address. */
function hostAndPort(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null || url.hostname === '') return undefined
  if (url.port !== '') return url.host.toLowerCase()
  const isTls = url.protocol === 'https:' || url.protocol === 'grpcs:' || url.protocol === 'wss:'
  return `${url.hostname.toLowerCase()}:${isTls ? 443 : 80}`
}
