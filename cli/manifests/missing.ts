// Problems about objects that are not among the manifests: they may be elsewhere, such as in another repository.
import type { FileProblem } from '#api/source/document.ts'
import type { LoadedManifests } from './load.ts'

const KINDS =
  'Secret|ConfigMap|Service|GwBackend|GwModel|GwParameters|InferencePool|Gateway|ListenerSet|HTTPRoute|GRPCRoute'
/** `secret shop/key not found`, `there is no Service shop/web`. */
const MISSING = new RegExp(
  `\\b(${KINDS}) (?:([^\\s/]+)/)?([^\\s/;,]+) not found|\\bthere is no (${KINDS}) ([^\\s/]+)/([^\\s/;,]+)`,
  'i',
)
/** Problems that a missing object causes, and that do not name it. */
const CONSEQUENCES: readonly RegExp[] = [
  /is not attached to any Gateway/,
  /^no entry of caCertificateRefs contains a certificate/,
  /^nothing to (?:serve|deploy)/,
]
/** A ReferenceGrant is in the namespace of the other object. */
const REASONS: ReadonlySet<string | undefined> = new Set(['RefNotPermitted'])

/** Errors that objects elsewhere would fix become warnings. */
export function withoutMissing(problems: readonly FileProblem[], loaded: LoadedManifests): FileProblem[] {
  return problems.map((problem) =>
    problem.severity === 'error' && isAboutMissing(problem, loaded) ? { ...problem, severity: 'warning' } : problem,
  )
}

function isAboutMissing({ reason, message }: FileProblem, { objects }: LoadedManifests): boolean {
  if (REASONS.has(reason) || CONSEQUENCES.some((one) => one.test(message))) return true
  const match = MISSING.exec(message)
  if (match === null) return false
  const [kind, namespace, name] = match[1] === undefined ? match.slice(4) : match.slice(1)
  // The object exists here and is invalid.
  return !objects.some(
    (one) =>
      one.kind.toLowerCase() === kind?.toLowerCase() &&
      one.metadata.name === name &&
      (namespace === undefined || (one.metadata.namespace ?? '') === namespace),
  )
}
