// Encodes a rendered configuration as chunks: unchanged parts are found by identity. The writer chooses the objects of
// the chunks. Pure.
import { LIST_NAMES } from '../ir/lists.ts'
import type { RenderedConfig, RenderedSecrets } from '../ir/types.gen.ts'
import { type Chunk, cutList } from './chunks.ts'
import { READABLE_BYTES_MAX } from './document.ts'
import { Last } from './encode.ts'
import { type EncodedSecrets, SecretEncoder } from './secret-pieces.ts'

export type ChunkLists = { readonly [L in keyof Omit<RenderedConfig, 'version'>]: readonly Chunk[] }

export interface ChunkedDelivery {
  readonly version: number
  readonly lists: ChunkLists
  readonly secrets: EncodedSecrets
  /** All of it is small enough to be kept in a form that people can read. */
  readonly isReadable: boolean
}

export interface ChunkInput {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
  /** As of DeliveryInput. */
  readonly salt: string
}

/** For one Gateway. Returns the same as a fresh one. */
export class ChunkEncoder {
  readonly #secretEncoder = new SecretEncoder()
  readonly #secrets = new Last<EncodedSecrets>()
  #last: { readonly config: RenderedConfig; readonly lists: ChunkLists } | undefined = undefined

  encode({ config, secrets, salt }: ChunkInput): ChunkedDelivery {
    const last = this.#last
    const cut = LIST_NAMES.map((name) => {
      const isSame = last?.config[name] === config[name]
      return [name, isSame ? last.lists[name] : cutList(name, config[name], last?.lists[name])] as const
    })
    // One entry for each list.
    const lists = Object.fromEntries(cut) as unknown as ChunkLists
    this.#last = { config, lists }
    const bytes = cut.reduce((sum, [, chunks]) => chunks.reduce((part, chunk) => part + chunk.bytes, sum), 0)
    return {
      version: config.version,
      lists,
      secrets: this.#secrets.of([secrets, salt], () => this.#secretEncoder.encode(salt, secrets)),
      isReadable: bytes <= READABLE_BYTES_MAX,
    }
  }
}
