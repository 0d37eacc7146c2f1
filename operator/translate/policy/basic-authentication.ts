// traffic.basicAuthentication. The lines are secret; where they are missing nobody is known, and everyone is refused.
// Lines that the proxy cannot use are told by their number.
import { parseHtpasswd } from '#api/credentials/htpasswd.ts'
import type { SecretRef, TrafficPayload } from '#api/ir/types.gen.ts'
import type { BasicAuthentication } from '#api/v1alpha1/gwpolicy.gen.ts'
import { inlineSecret, secretRef } from './credential.ts'
import { locationField } from './extraction-location.ts'
import { type FieldContext, type FieldTranslator, reportError } from './field.ts'

const USERS_KEY = '.htaccess'
const REALM = 'Restricted'
/** Of a text that is no htpasswd at all every line is wrong. */
const LINES_TOLD_MAX = 8

export const basicAuthentication: FieldTranslator<BasicAuthentication, TrafficPayload> = {
  failureMode: 'deny',
  translate: ({ users, secretRef: ref, mode = 'Strict', realm = REALM, location }, context) => {
    const { path } = context
    const rendered =
      ref === undefined
        ? inlineSecret((users ?? []).join('\n'), `${path}.users`, context)
        : secretRef({ ref, defaultKey: USERS_KEY, path: `${path}.secretRef` }, context)
    reportLines(rendered, ref === undefined ? 'users' : 'secretRef', context)
    const payload = { basicAuthentication: { mode, realm, users: rendered, ...locationField(location, context) } }
    return [{ suffix: 'basicauth', payload }]
  },
}

function reportLines({ secret }: SecretRef, field: 'users' | 'secretRef', context: FieldContext): void {
  const text = context.report.secrets.find(({ key }) => key === secret)?.value
  if (text === undefined) return
  const { users, warnings } = parseHtpasswd(text)
  const told = warnings.slice(0, LINES_TOLD_MAX)
  if (warnings.length > told.length) told.push(`${warnings.length - told.length} more lines are ignored`)
  if (users.size === 0) told.push('no users: all credentials are rejected')
  if (told.length === 0) return
  const message = `${field === 'users' ? '' : `secret ${secret}: `}${told.join('; ')}`
  reportError(context, { path: `${context.path}.${field}`, reason: 'InvalidUsers', message })
}
