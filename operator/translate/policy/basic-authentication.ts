// traffic.basicAuthentication. The lines are secret; where they are missing nobody is known, and everyone is refused.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { BasicAuthentication } from '#api/v1alpha1/gwpolicy.gen.ts'
import { inlineSecret, secretRef } from './credential.ts'
import { locationField } from './extraction-location.ts'
import type { FieldTranslator } from './field.ts'

const USERS_KEY = '.htaccess'
const REALM = 'Restricted'

export const basicAuthentication: FieldTranslator<BasicAuthentication, TrafficPayload> = {
  failureMode: 'deny',
  translate: ({ users, secretRef: ref, mode = 'Strict', realm = REALM, location }, context) => {
    const { path } = context
    const rendered =
      ref === undefined
        ? inlineSecret((users ?? []).join('\n'), `${path}.users`, context)
        : secretRef({ ref, defaultKey: USERS_KEY, path: `${path}.secretRef` }, context)
    const payload = { basicAuth: { mode, realm, users: rendered, ...locationField(location, context) } }
    return [{ suffix: 'basicauth', payload }]
  },
}
