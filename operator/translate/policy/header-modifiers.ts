// traffic.headerModifiers: request and response are two units, merged apart.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { HeaderModifiers } from '#api/v1alpha1/shared.gen.ts'
import type { FieldTranslator } from './field.ts'
import { headerModifier } from './header-filter.ts'

export const headerModifiers: FieldTranslator<HeaderModifiers, TrafficPayload> = {
  failureMode: 'keep',
  translate: ({ request, response }) => [
    ...(request === undefined
      ? []
      : [{ suffix: 'header-modifier', payload: { requestHeaderModifier: headerModifier(request) } }]),
    ...(response === undefined
      ? []
      : [{ suffix: 'resp-header-modifier', payload: { responseHeaderModifier: headerModifier(response) } }]),
  ],
}
