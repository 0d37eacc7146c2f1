// The control plane's pure middle: a snapshot of the cluster in, rendered configurations and statuses out. Knows no
// clock, network, environment or randomness, and never throws for what a user wrote.
import type { Snapshot } from '../snapshot.ts'
import type { TranslateSettings, Translation } from '../translation.ts'
import { createTranslator } from './translator.ts'

/** Once; for a cluster that changes, keep a translator. */
export function translate(snapshot: Snapshot, settings: TranslateSettings): Translation {
  return createTranslator(settings).translate(snapshot)
}
