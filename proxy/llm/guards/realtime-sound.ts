// Encoded sound in an event of the Realtime API. Guards cannot check it.
import { isRecord } from '#api/json.ts'
import type { Step } from './conversation.ts'
import { folded } from './text-fields.ts'

const AUDIO = 'audio'

/** Places at any depth; settings of audio are objects. Depth and size are bounded by the parser. */
export function soundIn(value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] {
  if (Array.isArray(value)) {
    return (value as readonly unknown[]).flatMap((item, index) => soundIn(item, [...path, index]))
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const place = [...path, name]
    return folded(name) === AUDIO && typeof member === 'string' && member !== '' ? [place] : soundIn(member, place)
  })
}
