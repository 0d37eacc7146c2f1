// Reads the document of secrets from its pieces: only new pieces are unpacked and checked, and the items of the others
// are the same objects. A document without such pieces, as previous versions wrote it, is read as a whole.
import { isSame } from '../incremental/same.ts'
import type { RenderedSecrets } from '../ir/types.gen.ts'
import { validateSecrets } from '../ir/validate.ts'
import type { Problem } from '../problem.ts'
import { decodeDocument, type DocumentFault, DOCUMENT_BYTES_MAX, type DocumentRef, gunzipped } from './document.ts'
import type { ReadFile } from './fault.ts'
import { headOf, pieceId, pieceIdOf } from './secret-pieces.ts'

type Items = RenderedSecrets['secrets']

interface ReadPiece {
  readonly items: Items
  /** Unpacked. */
  readonly bytes: number
}

export type SecretsOutcome =
  | { readonly value: RenderedSecrets }
  | { readonly problems: readonly Problem[] }
  | DocumentFault

const END = ']}'

export class SecretReader {
  #sha256 = ''
  #value: RenderedSecrets = { version: 1, secrets: [] }
  /** Of the last document, by id; their ids depend on this salt. */
  #pieces: ReadonlyMap<string, ReadPiece> = new Map()
  #salt = ''

  read(ref: DocumentRef, file: ReadFile): SecretsOutcome {
    if (ref.sha256 === this.#sha256) return { value: this.#value }
    const outcome = this.#fromPieces(ref, file) ?? this.#whole(ref, file)
    if (!('value' in outcome)) return outcome
    this.#value = outcome.value
    this.#sha256 = ref.sha256
    return outcome
  }

  /** undefined: a piece is missing or has another content, or the document has no pieces. The whole is read then. */
  #fromPieces(ref: DocumentRef, file: ReadFile): { readonly value: RenderedSecrets } | undefined {
    const head = headIn(ref, file)
    if (head === undefined) return undefined
    const known = head.salt === this.#salt ? this.#pieces : new Map<string, ReadPiece>()
    const pieces = this.#read(ref, file, { head, known })
    if (pieces === undefined) return undefined
    const fresh = [...pieces].flatMap(([id, { items }]) => (known.has(id) ? [] : items))
    if (validateSecrets({ version: head.version, secrets: fresh }).length > 0) return undefined
    this.#salt = head.salt
    this.#pieces = pieces
    // Validated: the version just now, the items when they were new.
    const secrets = new Array<Items[number]>().concat(...[...pieces.values()].map(({ items }) => items))
    return { value: { version: 1, secrets } }
  }

  #read(
    { files, bytes }: DocumentRef,
    file: ReadFile,
    { head, known }: { readonly head: Head; readonly known: ReadonlyMap<string, ReadPiece> },
  ): ReadonlyMap<string, ReadPiece> | undefined {
    const pieces = new Map<string, ReadPiece>()
    const before = new Map(this.#value.secrets.map((item) => [item.key, item]))
    let rest = bytes - head.bytes
    for (const [at, name] of files.entries()) {
      if (at === 0) continue
      const id = pieceIdOf(name) ?? ''
      const scope = { id, salt: head.salt, before, bytesMax: rest, isLast: at === files.length - 1 }
      const piece = known.get(id) ?? readPiece(file(name), scope)
      if (piece === undefined) return undefined
      pieces.set(id, piece)
      rest -= piece.bytes
    }
    return rest === 0 && pieces.size === files.length - 1 ? pieces : undefined
  }

  #whole(ref: DocumentRef, file: ReadFile): SecretsOutcome {
    const decoded = decodeDocument(ref, file)
    if (!('value' in decoded)) return decoded
    // Our own document; what is not an object fails the check below.
    const { salt: _salt, ...secrets } = { ...(decoded.value as { salt?: unknown }) }
    const problems = validateSecrets(secrets)
    if (problems.length > 0) return { problems }
    this.#pieces = new Map()
    // validateSecrets: without problems it is one.
    return { value: secrets as unknown as RenderedSecrets }
  }
}

interface Head {
  readonly salt: string
  readonly version: number
  readonly bytes: number
}

/** undefined: the first file is no first piece. Nothing is unpacked while something is missing. */
function headIn({ encoding, files, bytes }: DocumentRef, file: ReadFile): Head | undefined {
  const [first = ''] = files
  if (encoding !== 'gzip' || files.length < 2 || files.some((name) => file(name) === undefined)) return undefined
  const plain = unpacked(file(first), bytes)
  const about = plain && headOf(plain.toString('utf8'))
  if (plain === undefined || about === undefined || pieceIdOf(first) !== pieceId(about.salt, plain)) return undefined
  return { ...about, bytes: plain.length }
}

interface PieceScope {
  readonly id: string
  readonly salt: string
  /** Objects that items may stay. */
  readonly before: ReadonlyMap<string, Items[number]>
  readonly bytesMax: number
  readonly isLast: boolean
}

/** Every piece ends behind an item, with the comma, or with the end of the document. */
function readPiece(
  packed: Uint8Array | undefined,
  { id, salt, before, bytesMax, isLast }: PieceScope,
): ReadPiece | undefined {
  const plain = unpacked(packed, bytesMax)
  if (plain === undefined || pieceId(salt, plain) !== id) return undefined
  const text = plain.toString('utf8')
  if (!text.endsWith(isLast ? END : ',')) return undefined
  try {
    const parsed: unknown = JSON.parse(`[${text.slice(0, isLast ? -END.length : -1)}]`)
    // Checked against the schema before it is used.
    const items = (parsed as Items).map((item) => {
      const known = before.get(item.key)
      return known !== undefined && isSame(known, item) ? known : item
    })
    return { items, bytes: plain.length }
  } catch {
    return undefined
  }
}

function unpacked(packed: Uint8Array | undefined, bytesMax: number): Buffer | undefined {
  return packed && gunzipped(packed, Math.min(bytesMax, DOCUMENT_BYTES_MAX))
}
