// Values as YAML, to copy into manifests and standalone files. Imported when it is first used: it holds a library.
import { stringify } from 'yaml'

export function yamlText(value: unknown): string {
  return stringify(value)
}
