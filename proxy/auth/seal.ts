// Seals what the proxy gives to clients and gets back, with AES-256-GCM. Any replica with the key can open it.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'

export interface Sealer {
  seal(plain: Buffer): Buffer
  /** `UnknownKey`: sealed with a key that is not listed. undefined: not of this kind, or changed. */
  open(sealed: Buffer): Buffer | 'UnknownKey' | undefined
}

interface SealKey {
  /** Kind and id of the key, in the clear; the seal covers them. */
  readonly head: Buffer
  readonly bytes: Uint8Array
}

const KEY_ID_BYTES = 4
const HEAD_BYTES = 1 + KEY_ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `kind`: first byte; what is sealed as one kind opens as no other. `keys`: the first seals, all open. */
export function createSealer(kind: number, keys: readonly Uint8Array[]): Sealer {
  const known = keys.map((key) => sealKey(kind, key))
  const [first] = known
  if (first === undefined) throw new Error('sealing requires a key')
  return {
    seal: (plain) => seal(plain, first),
    open(sealed) {
      if (sealed.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES || sealed[0] !== kind) return undefined
      const head = sealed.subarray(0, HEAD_BYTES)
      const key = known.find((one) => one.head.equals(head))
      return key === undefined ? 'UnknownKey' : open(sealed, key)
    },
  }
}

function sealKey(kind: number, bytes: Uint8Array): SealKey {
  const digest = Buffer.from(hash('sha256', Buffer.concat([Buffer.from('gw mcp session key '), bytes])), 'hex')
  return { head: Buffer.concat([Buffer.of(kind), digest.subarray(0, KEY_ID_BYTES)]), bytes }
}

function seal(plain: Buffer, { head, bytes }: SealKey): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(head)
  return Buffer.concat([head, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(sealed: Buffer, { head, bytes }: SealKey): Buffer | undefined {
  const rest = sealed.subarray(HEAD_BYTES)
  const nonce = rest.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', bytes, nonce, { authTagLength: TAG_BYTES }).setAAD(head)
  decipher.setAuthTag(rest.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(rest.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
