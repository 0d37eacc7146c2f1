// Why a match does not take a request: its first condition that is false. For people who ask; requests never run this.
import type { RouteMatch } from '#api/ir/types.gen.ts'
import type { HttpRequest } from '../message/message.ts'
import { compileFullMatch, conditionsOf } from './match.ts'
import { normalisePath, normalisePrefix } from './path-table.ts'
import { matchablePath } from './router.ts'

/** undefined: the match takes the request unless one of higher precedence does. */
export function failedCondition(match: RouteMatch, request: HttpRequest): string | undefined {
  const path = pathText(match)
  if (!coversPath(match, matchablePath(request))) return path
  return conditionsOf(match).find(({ test }) => !test(request))?.text
}

/** All conditions of a match, for users. */
export function matchText(match: RouteMatch): string {
  return [pathText(match), ...conditionsOf(match).map(({ text }) => text)].join(', ')
}

function pathText({ path: { exact, regex, pathPrefix = '/' } = {} }: RouteMatch): string {
  if (exact !== undefined) return `path exactly ${exact}`
  return regex === undefined ? `path prefix ${pathPrefix}` : `path all of ${JSON.stringify(regex)} (regular expression)`
}

function coversPath({ path: { exact, regex, pathPrefix = '/' } = {} }: RouteMatch, path: string): boolean {
  if (exact !== undefined) return path === normalisePath(exact)
  if (regex !== undefined) return compileFullMatch(regex)(path)
  const prefix = normalisePrefix(pathPrefix)
  return prefix === '' || path === prefix || path.startsWith(`${prefix}/`)
}
