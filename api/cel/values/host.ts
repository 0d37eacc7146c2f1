// How the host gives expressions access to its objects: it names the members that may be read. No other is reachable.
import type { CelVariables } from '../expression.ts'

/** Names the members of a host object that expressions may read; getters run only when one is read. */
export const CEL_FIELDS: unique symbol = Symbol('gw.cel.fields')

/** An object (usually of a class with getters) that is a map for expressions. A member that is undefined is missing. */
export interface HostRecord {
  readonly [CEL_FIELDS]: ReadonlySet<string>
}

export function isHostRecord(value: object): value is HostRecord {
  return CEL_FIELDS in value
}

/** Reads a member of the host's object. The caller has checked that the name is allowed. */
export function readMember(record: object, name: string): unknown {
  // The engine works with unknown values; an index signature is the correct type of an open record.
  const value = (record as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'function' ? undefined : value
}

/** Names of all variables, for `variables()`. */
export function variableNames(variables: CelVariables): string[] {
  return isHostRecord(variables) ? [...variables[CEL_FIELDS]] : Object.keys(variables)
}
