// The sessions at one server that workers opened in the place of a lost one, in an order that all workers agree on.
import type { TargetSession } from '../targets/target.ts'

/** Of one client's session at one server; the others are forgotten, and the server drops them itself. */
const KNOWN_MAX = 8

export interface Reopened {
  readonly session: TargetSession
  /** Kinds of items whose lists the client may have. */
  readonly lists: readonly string[]
}

/** As workers share it. */
export interface Known extends Reopened {
  /** One more than that of the session in use before; 0 is that of the id. */
  readonly generation: number
  /** Of the opening: unique. */
  readonly claim: string
  /** The id at the server that it replaces, if the server no longer has it. */
  readonly gone: string | undefined
}

/**
 * The latest generation first, in it the smallest claim: the same list in whatever order, and however often, the
 * messages of workers arrive.
 */
export function withReopened(known: readonly Known[] = [], reopened: Known): readonly Known[] {
  if (known.some(({ claim }) => claim === reopened.claim)) return known
  const isLater = ({ generation, claim }: Known): boolean =>
    generation < reopened.generation || (generation === reopened.generation && claim > reopened.claim)
  const later = known.findIndex(isLater)
  const index = later === -1 ? known.length : later
  return [...known.slice(0, index), reopened, ...known.slice(index)].slice(0, KNOWN_MAX)
}

/** Sessions that the server may have. `sealed`: that of the id of the client's session. */
export function mayBeOpen(sealed: TargetSession, known: readonly Known[] = []): readonly TargetSession[] {
  const gone = new Set([undefined, ...known.map((one) => one.gone)])
  return [sealed, ...known.map(({ session }) => session)].filter(({ serverSession }) => !gone.has(serverSession))
}
