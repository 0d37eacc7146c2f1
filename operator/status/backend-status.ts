// The status of a GwBackend: whether it can be used as written, in part, or not at all.
import type { Problem } from '#api/problem.ts'
import { condition, problemLine } from './condition.ts'
import type { BackendBody } from './object-status.ts'

export interface BackendStatusInput {
  readonly isUsable: boolean
  readonly problems: readonly Problem[]
  readonly generation: number | undefined
}

export function backendStatus({ isUsable, problems, generation }: BackendStatusInput): BackendBody {
  const type = 'Accepted'
  const relevant = isUsable ? problems : problems.filter(({ severity }) => severity === 'error')
  const text = [...new Set(relevant.map(problemLine))].join('\n')
  if (!isUsable) {
    const message = `failed to translate backend: ${text}`
    return { conditions: [condition({ type, isTrue: false, reason: 'TranslationError', message, generation })] }
  }
  if (text !== '') {
    return { conditions: [condition({ type, isTrue: true, reason: 'PartiallyValid', message: text, generation })] }
  }
  const message = 'Backend successfully accepted'
  return { conditions: [condition({ type, isTrue: true, reason: 'Accepted', message, generation })] }
}
