// Chooses the object of each piece of the secrets of a delivery. Pieces stay where they are. Pure.
import type { DocumentRef, Files } from '#api/delivery/document.ts'
import { type DeliveredObject, OBJECT_BYTES_MAX, sizeOf } from '#api/delivery/encode.ts'
import type { DeliveryNames } from '#api/delivery/names.ts'
import { type EncodedSecrets, secretFile, type SecretPiece } from '#api/delivery/secret-pieces.ts'
import { type HeldFiles, only } from './held-files.ts'

export interface SecretsInput {
  readonly held: HeldFiles
  readonly names: DeliveryNames
  /** Files that the delivery in force needs until the index of the configuration is written. */
  readonly inForce: ReadonlySet<string>
  readonly encoded: EncodedSecrets
}

export interface SecretsPlan {
  readonly ref: DocumentRef
  /** To write before the index. */
  readonly objects: readonly DeliveredObject[]
}

interface Room {
  readonly shard: number
  readonly files: Files
  bytes: number
  isChanged: boolean
}

export function planSecrets(input: SecretsInput): SecretsPlan {
  const { held, names, inForce, encoded } = input
  const present = names.secrets.map((name) => held.files({ kind: 'Secret', name }))
  const wanted = new Set(
    encoded.pieces.flatMap((piece) => present.map((_, shard) => secretFile(encoded, piece, shard))),
  )
  // Without room, a proxy that starts before the index is written waits for it. The encoder checked that the pieces fit
  // into empty objects.
  const rooms =
    filled(encoded, present, new Set([...wanted, ...inForce])) ??
    filled(encoded, present, wanted) ??
    filled(encoded, present, new Set()) ??
    []
  const { bytes, encoding, sha256 } = encoded
  const files = encoded.pieces.map((piece) => placeOf(encoded, piece, rooms) ?? '')
  const objects = rooms.filter(({ isChanged }) => isChanged)
  return {
    ref: { files, encoding, bytes, sha256 },
    objects: objects.map((room) => ({
      kind: 'Secret',
      part: 'secrets',
      name: names.secrets[room.shard] ?? '',
      files: room.files,
    })),
  }
}

/** The objects with all pieces, and with the present files that are `kept`; undefined: they have no room. */
function filled(
  encoded: EncodedSecrets,
  present: readonly Files[],
  kept: ReadonlySet<string>,
): readonly Room[] | undefined {
  const rooms = present.map((held, shard): Room => {
    const files = only(held, kept)
    return { shard, files, bytes: sizeOf(files), isChanged: false }
  })
  const missing = encoded.pieces.filter((piece) => placeOf(encoded, piece, rooms) === undefined)
  // The largest ones first: they fit into the fewest objects.
  for (const piece of missing.sort((a, b) => b.content.length - a.content.length)) {
    const room = rooms.find(({ shard, bytes }) => {
      const size = secretFile(encoded, piece, shard).length + piece.content.length
      // A reader looks for a file without a number in the first object.
      return bytes + size <= OBJECT_BYTES_MAX && (shard === 0 || encoded.encoding === 'gzip')
    })
    if (room === undefined) return undefined
    const name = secretFile(encoded, piece, room.shard)
    room.files.set(name, piece.content)
    room.bytes += name.length + piece.content.length
    room.isChanged = true
  }
  return rooms
}

/** The name of its file; undefined: in none of the objects. */
function placeOf(encoded: EncodedSecrets, piece: SecretPiece, rooms: readonly Room[]): string | undefined {
  const room = rooms.find(({ shard, files }) => files.has(secretFile(encoded, piece, shard)))
  return room && secretFile(encoded, piece, room.shard)
}
