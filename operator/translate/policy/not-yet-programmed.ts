// Fields of the API that this version of the proxy does not run. Security fields refuse the traffic they cover.
import { denyNotProgrammed, type FieldTranslator, reportNotProgrammed } from './field.ts'
import type { Deny } from '#api/ir/types.gen.ts'

export interface NotYetProgrammed<V> {
  /** Whether running without the field could let through what it was meant to stop. */
  readonly security: boolean | ((value: V) => boolean)
  /** Part of the key of the denial. */
  readonly suffix: string
}

export function notYetProgrammed<V>({ security, suffix }: NotYetProgrammed<V>): FieldTranslator<V, { deny?: Deny }> {
  const isSecurity = typeof security === 'function' ? security : () => security
  return {
    failureMode: security === false ? 'skip' : 'deny',
    translate: (value, context) => {
      if (isSecurity(value)) return [denyNotProgrammed(context, suffix)]
      reportNotProgrammed(context)
      return []
    },
  }
}
