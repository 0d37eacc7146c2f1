// The status of a GwBackend: whether it can be used as written, in part, or not at all.
import { INTERNAL_ERROR, type Problem } from '#api/problem.ts'
import { condition, problemLine } from './condition.ts'
import type { BackendBody } from '../translate/object-status.ts'

export interface BackendStatusInput {
  readonly isUsable: boolean
  readonly problems: readonly Problem[]
  readonly generation: number | undefined
}

export function backendStatus({ isUsable, problems, generation }: BackendStatusInput): BackendBody {
  const type = 'Accepted'
  const relevant = isUsable ? problems : problems.filter(({ severity }) => severity === 'error')
  const lines = [...new Set(relevant.map(problemLine))]
  if (relevant.some(({ reason }) => reason === INTERNAL_ERROR)) {
    return { conditions: [condition({ type, isTrue: false, reason: INTERNAL_ERROR, message: lines, generation })] }
  }
  if (!isUsable) {
    const message = [`failed to translate backend: ${lines[0] ?? ''}`, ...lines.slice(1)]
    return { conditions: [condition({ type, isTrue: false, reason: 'TranslationError', message, generation })] }
  }
  if (lines.length > 0) {
    return { conditions: [condition({ type, isTrue: true, reason: 'PartiallyValid', message: lines, generation })] }
  }
  const message = 'Backend successfully accepted'
  return { conditions: [condition({ type, isTrue: true, reason: 'Accepted', message, generation })] }
}
