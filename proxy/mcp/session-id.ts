// The session id carries the session: target, server session and pinned endpoint of each server, sealed with
// AES-256-GCM, so that any replica with the key can serve it. Without a key it is only encoded (data-plane supplement
// section 4.3).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { isRecord, parseJson } from '#api/json.ts'

export interface TargetSession {
  readonly target: string
  /** The server's own session id; undefined when it gave none. */
  readonly serverSession: string | undefined
  /** `host:port` the session lives on. */
  readonly endpoint: string | undefined
  /** The target failed at initialize and was skipped (`failureMode: FailOpen`). */
  readonly isSkipped: boolean
}

export interface McpSession {
  /** Backend and route the session was made on: it is valid nowhere else. */
  readonly scope: string
  readonly targets: readonly TargetSession[]
}

export interface SessionCodec {
  encode(session: McpSession): string
  /** undefined: not an id of ours, or tampered with. */
  decode(id: string): McpSession | undefined
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** 32 targets with long server ids fit; anything longer is not ours. */
const ID_CHARACTERS_MAX = 16_384

export function sessionCodec(key: Uint8Array | undefined): SessionCodec {
  return {
    encode(session) {
      const plain = Buffer.from(JSON.stringify(wireOf(session)))
      return (key === undefined ? plain : seal(plain, key)).toString('base64url')
    },
    decode(id) {
      if (id.length > ID_CHARACTERS_MAX || !/^[A-Za-z0-9_-]+$/.test(id)) return undefined
      const bytes = Buffer.from(id, 'base64url')
      const plain = key === undefined ? bytes : open(bytes, key)
      return plain === undefined ? undefined : sessionOf(plain)
    },
  }
}

function seal(plain: Buffer, key: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(bytes: Buffer, key: Uint8Array): Buffer | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}

/** Short names: the id travels with every request. `r` makes ids differ when no server gave one. */
interface Wire {
  readonly t: 'mcp'
  readonly k: string
  readonly s: readonly { t: string; s?: string; b?: string; x?: 1 }[]
  readonly r: string
}

function wireOf({ scope, targets }: McpSession): Wire {
  const entries = targets.map(({ target, serverSession, endpoint, isSkipped }) => ({
    t: target,
    ...(serverSession === undefined ? {} : { s: serverSession }),
    ...(endpoint === undefined ? {} : { b: endpoint }),
    ...(isSkipped ? ({ x: 1 } as const) : {}),
  }))
  return { t: 'mcp', k: scope, s: entries, r: randomBytes(8).toString('base64url') }
}

function sessionOf(plain: Buffer): McpSession | undefined {
  const wire = parseJson(plain.toString('utf8'))
  if (!isRecord(wire) || wire['t'] !== 'mcp' || typeof wire['k'] !== 'string' || !Array.isArray(wire['s']))
    return undefined
  const targets: TargetSession[] = []
  for (const entry of wire['s'] as unknown[]) {
    if (!isRecord(entry) || typeof entry['t'] !== 'string') return undefined
    const { t, s, b, x } = entry
    targets.push({
      target: t,
      serverSession: typeof s === 'string' ? s : undefined,
      endpoint: typeof b === 'string' ? b : undefined,
      isSkipped: x === 1,
    })
  }
  return { scope: wire['k'], targets }
}
