// Checks a rendered configuration and its secrets against their schemas. Structure only: the proxy checks the
// meaning of the values. Messages never contain a secret.
import type { Problem } from '../problem.ts'
import { structureProblems } from '../validate/structure.ts'
import { config, secrets } from './structure.gen.ts'

/** No problem: the value is a RenderedConfig. */
export function validateConfig(value: unknown): Problem[] {
  return structureProblems(config, value)
}

/** No problem: the value is a RenderedSecrets. */
export function validateSecrets(value: unknown): Problem[] {
  return structureProblems(secrets, value)
}
