// The session id carries the session: its owner, its time, and target, server session and pinned endpoint of each
// server, sealed with AES-256-GCM, so that any replica with the key can serve it (data-plane supplement section 4.3).
import { hash, randomBytes } from 'node:crypto'
import { isRecord, type JsonRecord } from '#api/json.ts'
import { BoundedCache, type CacheBounds } from '../../auth/bounded-cache.ts'
import { jsonSealer } from '../../auth/json-sealer.ts'
import { TargetError, type TargetSession } from '../targets/target.ts'
import { packed, unpacked } from './packed-targets.ts'

/** What the client said at `initialize`, to open server sessions again. */
export interface SessionClient {
  readonly protocolVersion: string
  readonly capabilities: { readonly [key: string]: unknown }
  readonly clientInfo: { readonly [key: string]: unknown }
}

export interface McpSession {
  /** Backend and route of the session: it is valid nowhere else. */
  readonly scope: string
  /** Its owner; see principal.ts. */
  readonly principal: string
  readonly targets: readonly TargetSession[]
  /** undefined: too large for the id. */
  readonly client?: SessionClient | undefined
}

export interface SessionCodec {
  /** @throws {TargetError} the servers have ids that a header field cannot hold together. */
  encode(session: McpSession): string
  /** `Over`: expired, or sealed with an unknown key. undefined: not an id of this proxy, or changed. */
  decode(id: string): McpSession | 'Over' | undefined
  /** As `shownSessionId`. */
  shown(id: string): string
}

/** Clients start again when a session is over. */
export const SESSION_MS_MAX = 24 * 60 * 60 * 1000
const FORMAT = 2
/** A header field must hold the id. */
const CLIENT_CHARACTERS_MAX = 2048
/** 128 targets with ids of usual length fit; anything longer is not ours. Node.js clients read no longer field. */
const ID_CHARACTERS_MAX = 16_000

/** Ids that a worker keeps opened: opening one costs as much as the rest of a call. Weights are characters. */
const OPENED_IDS: CacheBounds = { entriesMax: 4096, weightMax: 4 * 1024 * 1024 }

interface Opened {
  readonly session: McpSession
  /** Seconds since the epoch. */
  readonly expires: number
  readonly shown: string
}

/** By keys, which all backends of a worker share. */
const openedIds = new WeakMap<readonly Uint8Array[], BoundedCache<Opened>>()

/** `keys`: the first seals, all open. `now`: milliseconds since the epoch. */
export function sessionCodec(keys: readonly Uint8Array[], now: () => number = Date.now): SessionCodec {
  const sealer = jsonSealer({ kind: FORMAT, keys, charactersMax: ID_CHARACTERS_MAX })
  const known = openedIds.get(keys) ?? new BoundedCache<Opened>(OPENED_IDS)
  openedIds.set(keys, known)
  return {
    encode(session) {
      const wire = wireOf(session, secondsOf(now()))
      const { c: _, ...withoutClient } = wire
      for (const one of [wire, withoutClient]) {
        const id = sealer.seal({ ...one })
        if (id.length <= ID_CHARACTERS_MAX) return id
      }
      throw new TargetError(`the ids of the sessions at ${session.targets.length} servers are too long for one id`)
    },
    decode(id) {
      const opened = known.get(id) ?? open(id)
      if (typeof opened !== 'object') return opened
      if (secondsOf(now()) < opened.expires) return opened.session
      known.delete(id)
      return 'Over'
    },
    shown: (id) => known.get(id)?.shown ?? shownSessionId(id),
  }

  function open(id: string): Opened | 'Over' | undefined {
    const wire = sealer.open(id)
    if (wire === 'UnknownKey') return 'Over'
    const parts = wire && openedOf(wire)
    if (parts === undefined) return undefined
    const opened = { ...parts, shown: shownSessionId(id) }
    known.set(copyOf(id), opened, id.length)
    return opened
  }
}

/** For logs: the id is a credential for the session. */
export function shownSessionId(id: string): string {
  return hash('sha256', id).slice(0, 16)
}

/** A text of its own: a field of a request is a part of its head. */
function copyOf(id: string): string {
  return Buffer.from(id, 'latin1').toString('latin1')
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000)
}

interface WireTarget {
  readonly t: string
  readonly s?: string
  readonly b?: string
  readonly x?: 1
  readonly m?: 1
}

/** Short names: the id is sent with every request. `r` makes ids differ if no server sent one. */
interface Wire {
  readonly t: 'mcp'
  readonly k: string
  readonly p: string
  /** Seconds since the epoch. */
  readonly issued: number
  readonly expires: number
  /** A text: packed. */
  readonly s: readonly WireTarget[] | string
  readonly r: string
  readonly c?: SessionClient
}

function wireOf({ scope, principal, targets, client }: McpSession, issued: number): Wire {
  const entries = targets.map(({ target, serverSession, endpoint, isSkipped, isModern }) => ({
    t: target,
    ...(serverSession === undefined ? {} : { s: serverSession }),
    ...(endpoint === undefined ? {} : { b: endpoint }),
    ...(isSkipped ? ({ x: 1 } as const) : {}),
    ...(isModern ? ({ m: 1 } as const) : {}),
  }))
  const expires = issued + secondsOf(SESSION_MS_MAX)
  const r = randomBytes(8).toString('base64url')
  const isShort = client !== undefined && JSON.stringify(client).length <= CLIENT_CHARACTERS_MAX
  return { t: 'mcp', k: scope, p: principal, issued, expires, s: packed(entries), r, ...(isShort && { c: client }) }
}

function openedOf(wire: JsonRecord): Omit<Opened, 'shown'> | undefined {
  const entries = unpacked(wire['s'])
  if (wire['t'] !== 'mcp' || entries === undefined) return undefined
  const { k: scope, p: principal, expires } = wire
  if (typeof scope !== 'string' || typeof principal !== 'string' || typeof expires !== 'number') return undefined
  const targets = targetsOf(entries)
  if (targets === undefined) return undefined
  const client = clientOf(wire['c'])
  return { session: { scope, principal, targets, ...(client && { client }) }, expires }
}

function clientOf(value: unknown): SessionClient | undefined {
  if (!isRecord(value)) return undefined
  const { protocolVersion, capabilities, clientInfo } = value
  if (typeof protocolVersion !== 'string' || !isRecord(capabilities) || !isRecord(clientInfo)) return undefined
  return { protocolVersion, capabilities, clientInfo }
}

function targetsOf(entries: readonly unknown[]): TargetSession[] | undefined {
  const targets: TargetSession[] = []
  for (const entry of entries) {
    if (!isRecord(entry) || typeof entry['t'] !== 'string') return undefined
    const { t, s, b, x, m } = entry
    targets.push({
      target: t,
      serverSession: typeof s === 'string' ? s : undefined,
      endpoint: typeof b === 'string' ? b : undefined,
      isSkipped: x === 1,
      isModern: m === 1,
    })
  }
  return targets
}
