// Durations of the API as translation uses them: the schema has rejected invalid ones, so a failure means "not set".
import { parseDuration } from '#api/units/duration.ts'

export function durationMs(text: string): number | undefined {
  const outcome = parseDuration(text)
  return 'ms' in outcome ? outcome.ms : undefined
}
