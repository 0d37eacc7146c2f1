// Names of models as resources and files have them: a name, or a pattern with one `*` at its beginning or end.

export function nameMatcher(pattern: string): (name: string) => boolean {
  if (pattern === '*') return () => true
  if (pattern.endsWith('*')) {
    const prefix = pattern.slice(0, -1)
    return (name) => name.startsWith(prefix)
  }
  if (pattern.startsWith('*')) {
    const suffix = pattern.slice(1)
    return (name) => name.endsWith(suffix)
  }
  return (name) => name === pattern
}
