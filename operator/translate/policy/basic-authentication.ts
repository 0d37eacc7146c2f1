// traffic.basicAuthentication. The lines are secret; without them there are no users, and every request is rejected.
// Lines that the proxy cannot use are reported by their number.
import { parseHtpasswd } from '#api/credentials/htpasswd.ts'
import type { SecretRef, TrafficPayload } from '#api/ir/types.gen.ts'
import type { BasicAuthentication } from '#api/v1alpha1/gwpolicy.gen.ts'
import { inlineSecret, secretRef } from './credential.ts'
import { locationField } from './extraction-location.ts'
import { type FieldContext, type FieldTranslator, reportError } from './field.ts'

const USERS_KEY = '.htaccess'
const REALM = 'Restricted'
/** In a text that is not htpasswd every line is invalid. */
const LINES_REPORTED_MAX = 8

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
  const reported = warnings.slice(0, LINES_REPORTED_MAX)
  if (warnings.length > reported.length) reported.push(`${warnings.length - reported.length} more lines are ignored`)
  if (users.size === 0) reported.push('no users: all credentials are rejected')
  if (reported.length === 0) return
  const message = `${field === 'users' ? '' : `secret ${secret}: `}${reported.join('; ')}`
  reportError(context, { path: `${context.path}.${field}`, reason: 'InvalidUsers', message })
}
