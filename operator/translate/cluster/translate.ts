// Translates a snapshot of the cluster into rendered configurations and statuses. Pure: it does not depend on a clock,
// network, environment or randomness, and never throws for user input.
import type { Snapshot } from '../snapshot.ts'
import type { TranslateSettings, Translation } from '../translation.ts'
import { createTranslator } from './translator.ts'

/** Once; for a cluster that changes, keep a translator. */
export function translate(snapshot: Snapshot, settings: TranslateSettings): Translation {
  return createTranslator(settings).translate(snapshot)
}
