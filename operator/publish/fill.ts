// How much of the objects of a delivery its parts use. Pure.
import { type DeliveredObject, OBJECT_BYTES_MAX, PART_NAMES, sizeOf } from '#api/delivery/encode.ts'
import { SHARDS_MAX } from '#api/delivery/names.ts'

type Part = keyof typeof PART_NAMES

/** By part: 1 is as much as its objects can hold. */
export type Fill = { readonly [P in Part]: number }

/** Worth a warning: there is time to act. */
const NEARLY_FULL = 0.7
/** The warning does not change with each object. */
const STEP_PERCENT = 10
const PARTS = Object.keys(PART_NAMES) as readonly Part[]

/** `objects`: what is in force. */
export function fillOf(objects: readonly DeliveredObject[]): Fill {
  const fill: { [P in Part]: number } = { config: 0, endpoints: 0, secrets: 0 }
  for (const { part, files } of objects) fill[part] += sizeOf(files) / (SHARDS_MAX[part] * OBJECT_BYTES_MAX)
  return fill
}

/** Of one message; the others are counted. */
const NAMES_MAX = 10

/** `secrets`: `namespace/name` of those that are not delivered. undefined: all are. */
export function leftOutText(secrets: readonly string[]): string | undefined {
  if (secrets.length === 0) return undefined
  const more = secrets.length > NAMES_MAX ? ` and ${secrets.length - NAMES_MAX} others` : ''
  const names = `${secrets.slice(0, NAMES_MAX).join(', ')}${more}`
  const advice = 'Make them smaller, or move some to another Gateway'
  return `the delivery has no room for the largest Secrets: ${names}. What uses them rejects traffic. ${advice}`
}

/** undefined: there is room in each part. */
export function nearlyFullText(fill: Fill): string | undefined {
  const parts = PARTS.filter((part) => fill[part] >= NEARLY_FULL).map((part) => {
    const percent = Math.floor((fill[part] * 100) / STEP_PERCENT) * STEP_PERCENT
    return `the ${PART_NAMES[part]} use more than ${percent} % of what a delivery can hold`
  })
  return parts.length === 0 ? undefined : `${parts.join('; ')}. Move some to another Gateway before nothing more fits`
}
