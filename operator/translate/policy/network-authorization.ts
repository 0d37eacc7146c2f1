// frontend.networkAuthorization: rules over `source`, once for each connection. Rules of all policies are kept.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { Authorization } from '#api/v1alpha1/shared.gen.ts'
import { authorizationDenials, renderAuthorization } from './authorization.ts'
import type { FieldTranslator } from './field.ts'

const SUFFIX = 'frontend-network-authz'

/** An invalid expression never matches: Allow and Require then reject by themselves; a Deny rule becomes a denial. */
export const networkAuthorization: FieldTranslator<Authorization, FrontendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => [
    { suffix: SUFFIX, accumulates: true, payload: { networkAuthorization: renderAuthorization(value) } },
    ...authorizationDenials(value, { ...context, moment: 'connection' }, `${SUFFIX}-deny`),
  ],
}
