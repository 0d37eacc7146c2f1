// Names in an expression that cannot be valid: variables and members that do not exist, or not yet when the expression
// is evaluated. Only what is certain from the text; claims, headers and metadata may have any name.
import { hintFor } from '../nearest.ts'
import { problemAt } from './engine/parse.ts'
import type { CelProblem, CelRead, CelReads } from './expression.ts'
import { CEL_ABSENT, CEL_NOT_YET, CEL_VARIABLES, type CelMoment, type CelShape } from './variables.ts'

/** Of one expression; the first ones are enough to correct it. */
const NAMES_TOLD_MAX = 8

export interface CelNameProblem extends CelProblem {
  /** The language has the name, but this version does not support it. */
  readonly isNotYet: boolean
}

const WHEN: { readonly [M in CelMoment]: string } = {
  start: 'not available: the expression is evaluated without a request and can only read env',
  connection:
    'not available: the expression is evaluated for a connection, before any request, and can only read source',
  routing: 'not available: the expression is evaluated before a route is selected',
  request: 'not available: the expression is evaluated before the request is sent to a backend',
  backend: 'not available: the expression is evaluated before the backend responds',
  model: 'not available: the expression is evaluated before the model responds',
  response: 'not available: the expression is evaluated while the response is forwarded',
  log: 'not available: the expression is evaluated after the response',
}

/** `moment` undefined: not known. Each name once, at its first place. */
export function nameProblems(source: string, found: CelReads, moment: CelMoment | undefined): CelNameProblem[] {
  const problems = new Map<string, CelNameProblem>()
  for (const read of found.reads) {
    const name = read.path.join('.')
    const fault = problems.has(name) ? undefined : faultOf(read, name, { found, moment })
    if (fault === undefined) continue
    problems.set(name, { ...problemAt(source, read.offset, fault.message), isNotYet: fault.isNotYet })
    if (problems.size === NAMES_TOLD_MAX) break
  }
  return [...problems.values()]
}

type Fault = Pick<CelNameProblem, 'message' | 'isNotYet'>

function faultOf(
  { path, isLenient }: CelRead,
  name: string,
  { found, moment }: { readonly found: CelReads; readonly moment: CelMoment | undefined },
): Fault | undefined {
  const shape = shapeOf(path.slice(0, -1))
  if (shape === undefined || shape === 'open' || isTested(name, found.tested)) return undefined
  if (!Object.hasOwn(shape, path.at(-1) ?? '')) return { message: unknownName(path, shape), isNotYet: false }
  if (isLenient) return undefined
  if (CEL_NOT_YET.has(name)) {
    return { message: `${name} is not supported by this version of the proxy; reading it fails`, isNotYet: true }
  }
  if (moment === undefined || !CEL_ABSENT[moment].has(name) || isAskedFor(path[0], found)) return undefined
  return { message: `${name}: ${WHEN[moment]}`, isNotYet: false }
}

/** undefined: the path itself is unknown, which another read reports. */
function shapeOf(path: readonly string[]): CelShape | undefined {
  let shape: CelShape = CEL_VARIABLES
  for (const name of path) {
    if (shape === 'open') return 'open'
    const below: CelShape | undefined = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (below === undefined) return undefined
    shape = below
  }
  return shape
}

function unknownName(path: readonly string[], shape: Exclude<CelShape, 'open'>): string {
  const last = path.at(-1) ?? ''
  const known = Object.keys(shape)
  if (path.length === 1) return `there is no variable ${last}; ${hintFor(last, known, `there are ${known.join(', ')}`)}`
  const owner = path.slice(0, -1).join('.')
  if (known.length === 0) return `${owner} has no members; it has no ${last}`
  return `${owner} has no member ${last}; ${hintFor(last, known, `it has ${known.join(', ')}`)}`
}

/** The expression first tests the presence of it, or of a member below it. */
function isTested(name: string, tested: ReadonlySet<string>): boolean {
  for (const one of tested) if (one === name || one.startsWith(`${name}.`)) return true
  return false
}

/** The expression is prepared for the absence of the variable. */
function isAskedFor(variable: string | undefined, { tested, reads, isEverythingRead }: CelReads): boolean {
  if (isEverythingRead || variable === undefined) return true
  return (
    reads.some(({ path, isLenient }) => isLenient && path[0] === variable) ||
    [...tested].some((path) => path.startsWith(`${variable}.`))
  )
}
