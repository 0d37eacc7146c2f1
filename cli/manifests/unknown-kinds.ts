// The message for an unknown kind of a known group: it suggests the kind or the version that was probably meant.
import { nearestName } from '#api/nearest.ts'
import { KINDS } from '#api/validate/kinds/register.gen.ts'

interface Known {
  readonly apiVersion: string
  readonly kind: string
}

const KNOWN: readonly Known[] = [...KINDS.keys()].map((key) => {
  const end = key.lastIndexOf('/')
  return { apiVersion: key.slice(0, end), kind: key.slice(end + 1) }
})

export function unknownKind(apiVersion: string, kind: string): string {
  const what = `unknown kind ${kind} of ${apiVersion}`
  const inGroup = KNOWN.filter((one) => groupOf(one.apiVersion) === groupOf(apiVersion))
  const elsewhere = inGroup.find((one) => one.kind === kind)
  if (elsewhere !== undefined) return `${what}; write apiVersion: ${elsewhere.apiVersion}`
  const names = [...new Set(inGroup.map((one) => one.kind))]
  const nearest = nearestName(kind, names)
  return `${what}; ${nearest === undefined ? `known here: ${names.join(', ')}` : `did you mean ${nearest}?`}`
}

/** The apiVersion to write for a kind without one; undefined for kinds of other groups. */
export function apiVersionOf(kind: unknown): string | undefined {
  return KNOWN.find((one) => one.kind === kind)?.apiVersion
}

function groupOf(apiVersion: string): string {
  return apiVersion.split('/', 1)[0] ?? ''
}
