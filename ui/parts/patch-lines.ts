// What changed between two JSON values, one line for each added and removed value. Pure.
import { jsonPatch } from '#cli/tui/json-patch.ts'

/** `isLeftOut`: of paths that are not compared. */
export function patchLines(before: unknown, after: unknown, isLeftOut = (_path: string): boolean => false): string[] {
  const changes = jsonPatch(before, after).filter(({ path }) => !isLeftOut(path))
  const lines = changes.flatMap((change) => [
    ...('before' in change ? [`- ${change.path}: ${JSON.stringify(change.before)}`] : []),
    ...('value' in change ? [`+ ${change.path}: ${JSON.stringify(change.value)}`] : []),
  ])
  return lines.length === 0 ? ['no change'] : lines
}
