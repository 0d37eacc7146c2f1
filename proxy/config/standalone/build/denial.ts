// Security policies that this version does not support: their requests are rejected, and the file gets a warning.
import type { Deny } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { BuildContext } from './context.ts'

export interface DenialInput {
  readonly names: readonly string[]
  readonly policies: Readonly<Record<string, unknown>>
  /** Of `policies`. */
  readonly path: string
}

/** undefined: none of the fields is set. A field that is present but empty counts as set. */
export function denialOf({ names, policies, path }: DenialInput, context: BuildContext): Deny | undefined {
  let deny: Deny | undefined
  for (const name of names) {
    if (policies[name] === undefined) continue
    deny = deny ?? deniedField(pathTo(path, name), context)
    if (deny.field !== pathTo(path, name)) deniedField(pathTo(path, name), context)
  }
  return deny
}

export function deniedField(field: string, context: BuildContext): Deny {
  const message = 'is not supported by this version of the proxy; all requests it applies to are rejected'
  context.warn(field, message)
  return { field, message: `${field} ${message}` }
}
