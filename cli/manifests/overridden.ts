// Reports policies without effect, because an older policy sets the same field for the same target. In a cluster the
// status of the policy reports it; here it is a warning.
import type { FileProblem } from '#api/source/document.ts'
import type { Translation } from '#operator/translate/translation.ts'
import type { LoadedManifests } from './load.ts'

const LOSING: ReadonlySet<string> = new Set(['Overridden', 'Merged'])

export function overriddenPolicies(loaded: LoadedManifests, { statuses }: Translation): FileProblem[] {
  return statuses.flatMap(({ kind, namespace, name, status }) => {
    if (kind !== 'GwPolicy' || !('ancestors' in status)) return []
    const conditions = status.ancestors.flatMap((ancestor) => ancestor.conditions)
    // Each line names one field.
    const messages = conditions.flatMap(({ reason, message }) => (LOSING.has(reason) ? message.split('\n') : []))
    const place = loaded.locate({ kind, namespace, name }, 'spec')
    const where = place ?? { file: `${kind}/${name}`, line: 1, column: 1 }
    return [...new Set(messages)].map(
      (message) => ({ ...where, path: 'spec', message, severity: 'warning', reason: 'Overridden' }) as const,
    )
  })
}
