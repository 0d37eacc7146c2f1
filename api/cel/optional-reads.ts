// Reads of a Deny rule that fail when a value is absent: headers, claims and other maps of any names. Only what is
// certain from the text; a Deny rule that fails lets the request pass. A rule that only asks for values, such as
// `jwt.sub == "ann"`, is not reported: an absent value is not equal to "ann", and such a request is not denied anyway.
import { problemAt } from './engine/parse.ts'
import type { CelProblem, CelRead, CelReads } from './expression.ts'

export interface OptionalRead extends CelProblem {
  /** `request.headers["x-role"]` is `request.headers.x-role`. */
  readonly name: string
}

/** Maps whose members come from clients, tokens and services. */
const OPEN: readonly string[] = [
  'request.headers',
  'source.connectHeaders',
  'jwt',
  'apiKey',
  'basicAuth',
  'extauthz',
  'extproc',
  'mcpGuardrails',
  'mcp.tool.arguments',
  'mcp.tool.result',
  'metadata',
]
/** Set only if the client presented a certificate, or a server name in the TLS handshake. */
const OF_SOME_CLIENTS: ReadonlySet<string> = new Set([
  'source.identity',
  'source.spiffeId',
  'source.issuer',
  'source.subject',
  'source.subjectCn',
  'source.certificate',
  'destination.hostname',
])

/** `all`: the expressions of one rule, which must all match: a test in one of them counts for the others. */
export function optionalReads(source: string, found: CelReads, all: readonly CelReads[]): OptionalRead[] {
  if (!deniesOthers(source)) return []
  const reads = new Map<string, OptionalRead>()
  for (const read of found.reads) {
    const name = read.path.join('.')
    if (reads.has(name) || !isOptional(read) || all.some((one) => isTested(name, one))) continue
    if (isLookedFor(read, source)) continue
    const message = `${name} may be absent: the rule then fails and does not deny; test it with has(), "in" or default()`
    reads.set(name, { ...problemAt(source, read.offset, message), name })
  }
  return [...reads.values()]
}

const TEXT = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g

/** Whether it may be meant to deny if a value is absent: with `!`, `!=`, `? :`, or a comparison with the empty text. */
function deniesOthers(source: string): boolean {
  return /[!?]|<empty>/.test(source.replaceAll(TEXT, (text) => (text.length === 2 ? '<empty>' : '<text>')))
}

function isOptional({ path, isLenient }: CelRead): boolean {
  if (isLenient) return false
  const name = path.join('.')
  return OF_SOME_CLIENTS.has(name) || OPEN.some((map) => name.startsWith(`${map}.`) && path.length === depthOf(map) + 1)
}

function depthOf(map: string): number {
  return map.split('.').length
}

function isTested(name: string, { tested, isEverythingRead }: CelReads): boolean {
  if (isEverythingRead) return true
  for (const one of tested) if (one === name || one.startsWith(`${name}.`)) return true
  return false
}

/** `"x-role" in request.headers`, anywhere in the text. */
function isLookedFor({ path }: CelRead, source: string): boolean {
  const last = path.at(-1) ?? ''
  return [`"${last}" in `, `'${last}' in `].some((test) => source.includes(test))
}
