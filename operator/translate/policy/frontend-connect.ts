// frontend.connect: what the proxy does with requests with method CONNECT. Without it they are rejected.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { FrontendConnect } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'

export const connect: FieldTranslator<FrontendConnect, FrontendPayload> = {
  failureMode: 'skip',
  translate: ({ mode }) => [{ suffix: 'frontend-connect', payload: { connect: { mode } } }],
}
