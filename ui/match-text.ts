// The match of a rule in a configuration dump in words. Pure.
import { fieldsOf } from '#cli/proxy/backends.ts'

const PATHS: ReadonlyMap<string, string> = new Map([
  ['pathPrefix', 'prefix'],
  ['exact', 'exactly'],
])

/** `path prefix /api and method GET and header x-a: b`. */
export function matchText({ path, method, headers, query }: Readonly<Record<string, unknown>>): string {
  const paths = Object.entries(fieldsOf(path)).map(
    ([kind, value]) => `path ${PATHS.get(kind) ?? kind} ${textOf(value)}`,
  )
  const methods = typeof method === 'string' ? [`method ${method}`] : []
  const parts = [...paths, ...methods, ...named('header', headers), ...named('query parameter', query)]
  return parts.length === 0 ? 'all' : parts.join(' and ')
}

function named(what: string, list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((one: unknown) => {
    const { name, value } = fieldsOf(one)
    const { exact, regex } = fieldsOf(value)
    if (exact !== undefined) return `${what} ${textOf(name)}: ${textOf(exact)}`
    return `${what} ${textOf(name)}${regex === undefined ? '' : ` regex ${textOf(regex)}`}`
  })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
