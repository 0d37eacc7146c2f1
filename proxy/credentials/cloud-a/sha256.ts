// SHA-256 and HMAC-SHA-256 in the form that @smithy/signature-v4 expects, over node:crypto.
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'

type SourceData = string | ArrayBuffer | ArrayBufferView

export class Sha256 {
  readonly #secret: Uint8Array | undefined
  #hash: Hash | Hmac

  constructor(secret?: SourceData) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret)
    this.#hash = this.#begin()
  }

  update(data: Uint8Array): void {
    this.#hash.update(data)
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }

  reset(): void {
    this.#hash = this.#begin()
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
}

function bytesOf(data: SourceData): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return new Uint8Array(data)
}
