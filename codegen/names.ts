// Spellings of one name: file name, field name, type name. Pure text.

/** `jwt-authentication` -> `jwtAuthentication` */
export function camelCase(kebab: string): string {
  return kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** The name of one item of a list field: `matches` -> `match`, `policies` -> `policy`, `rules` -> `rule`. */
export function singular(plural: string): string {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`
  if (/(?:ches|shes|sses|xes)$/.test(plural)) return plural.slice(0, -2)
  if (plural.endsWith('s') && !plural.endsWith('ss')) return plural.slice(0, -1)
  return plural
}

/** Order of code points: the same on every machine, whatever its locale. */
export function byCodePoint(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
