// Sealed JSON objects as texts that fit header fields, queries and ids of events.
import { isRecord, type JsonRecord, parseJson } from '#api/json.ts'
import { createSealer } from './seal.ts'

export interface JsonSealer {
  seal(record: JsonRecord): string
  /** `UnknownKey`: sealed with a key that is not listed. undefined: not of this kind, changed, or too long. */
  open(text: string): JsonRecord | 'UnknownKey' | undefined
}

export interface JsonSealerOptions {
  /** First byte: what is sealed as one kind opens as no other. */
  readonly kind: number
  /** The first seals, all open. */
  readonly keys: readonly Uint8Array[]
  /** Longer texts are not of this proxy. */
  readonly charactersMax: number
}

export function jsonSealer({ kind, keys, charactersMax }: JsonSealerOptions): JsonSealer {
  const sealer = createSealer(kind, keys)
  return {
    seal: (record) => sealer.seal(Buffer.from(JSON.stringify(record))).toString('base64url'),
    open(text) {
      if (text.length > charactersMax || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined
      const plain = sealer.open(Buffer.from(text, 'base64url'))
      if (plain === undefined || plain === 'UnknownKey') return plain
      const record = parseJson(plain.toString('utf8'))
      return isRecord(record) ? record : undefined
    },
  }
}
