// traffic.csrf. Nothing in it can be broken once the schema has accepted it.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { CSRF } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'

export const csrf: FieldTranslator<CSRF, TrafficPayload> = {
  failureMode: 'deny',
  translate: ({ additionalOrigins }) => [
    {
      suffix: 'csrf',
      payload: { csrf: additionalOrigins === undefined ? {} : { additionalOrigins: [...additionalOrigins] } },
    },
  ],
}
