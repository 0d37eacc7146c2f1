// backend.transformation: the plain form only. Failure mode as for traffic.transformation.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { Transformation } from '#api/v1alpha1/shared.gen.ts'
import type { FieldTranslator } from './field.ts'
import { renderTransformation } from './transformation.ts'

export const backendTransformation: FieldTranslator<Transformation, BackendPayload> = {
  failureMode: 'keep',
  translate: (value, context) => [
    {
      suffix: 'backend-transformation',
      payload: { transformation: renderTransformation(value, context.path, context) },
    },
  ],
}
