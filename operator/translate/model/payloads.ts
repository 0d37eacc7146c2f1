// Several backend payloads of one object as one. Denials add up, other fields are of one payload only.
import type { BackendPayload } from '#api/ir/types.gen.ts'

export function joinPayloads(...payloads: ReadonlyArray<BackendPayload | undefined>): BackendPayload | undefined {
  const present = payloads.filter((payload) => payload !== undefined)
  if (present.length === 0) return undefined
  const merged: BackendPayload = Object.assign({}, ...present)
  const denials = present.flatMap(({ deny }) => deny ?? [])
  if (denials.length < 2) return merged
  const deny = {
    field: denials.map(({ field }) => field).join(', '),
    message: denials.map(({ message }) => message).join('\n'),
  }
  return { ...merged, deny }
}
