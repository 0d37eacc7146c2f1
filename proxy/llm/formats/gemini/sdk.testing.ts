// The type declarations of the SDK of Google, for tests that compare ledgers with them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const GENAI_DECLARATIONS = readFileSync(
  join(import.meta.dirname, '../../../../node_modules/@google/genai/dist/genai.d.ts'),
  'utf8',
).replaceAll('\r\n', '\n')
