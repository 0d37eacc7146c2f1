// References to named backends.
import type { BackendReference } from '#api/ir/types.gen.ts'
import { hintFor } from '#api/nearest.ts'
import type { BuildContext } from './context.ts'

/** `name` or `/name`. */
export function backendNamed(text: string, path: string, context: BuildContext): BackendReference {
  const key = text.startsWith('/') ? text : `/${text}`
  if (context.backendKinds.has(key)) return { backend: key }
  const hint = hintFor(key.slice(1), [...context.namedBackends], 'declare it in backends')
  context.error(path, `there is no backend named ${key.slice(1)}; ${hint}`)
  return { invalid: { reason: 'BackendNotFound', message: `there is no backend named ${key.slice(1)}` } }
}
