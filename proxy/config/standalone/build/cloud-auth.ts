// Credentials of clouds in standalone files: the fields of the file, in the names of the rendered configuration.
import { credentialProblem } from '#api/credentials/cloud-c.ts'
import type { BackendAuth as RenderedAuth, SecretRef } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { BackendAuth } from '../schema/policies.ts'
import type { FileOrInline } from '../schema/values.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'

type Fields = Exclude<BackendAuth, string>

const EFFECT = 'all requests that use it are rejected'

export function renderAws(
  value: NonNullable<Fields['aws']>,
  path: string,
  context: BuildContext,
): NonNullable<RenderedAuth['cloudA']> {
  const { accessKeyId, secretAccessKey, sessionToken, assumeRole, region, serviceName } = value
  const secret = (name: string, given: FileOrInline) => secretAt(pathTo(path, name), given, context)
  return defined({
    secretRef:
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? {
            accessKey: secret('accessKeyId', accessKeyId),
            secretKey: secret('secretAccessKey', secretAccessKey),
            ...defined({ sessionToken: ifSet(sessionToken, (given) => secret('sessionToken', given)) }),
          }
        : undefined,
    assumeRole: ifSet(assumeRole, ({ roleArn, externalId, sessionName: name, sessionNameExpression, tags }) => ({
      roleRef: roleArn,
      ...defined({
        externalId,
        sessionName: typeof name === 'string' ? name : undefined,
        sessionNameExpression: typeof name === 'object' ? name.expression : sessionNameExpression,
        tags: tags?.map((tag) => defined(tag)),
      }),
    })),
    region,
    serviceName,
  })
}

export function renderAzure(
  { developerImplicit, explicitConfig }: NonNullable<Fields['azure']>,
  path: string,
  context: BuildContext,
): NonNullable<RenderedAuth['cloudB']> {
  const { clientSecret, clientCertificate, managedIdentity, workloadIdentity } = explicitConfig ?? {}
  const secretIn = (field: string) => (name: string, given: FileOrInline) =>
    secretAt(pathTo(path, 'explicitConfig', field, name), given, context)
  const ofSecret = secretIn('clientSecret')
  const ofCertificate = secretIn('clientCertificate')
  return defined({
    developerTools: ifSet(developerImplicit, () => true),
    secretRef:
      ifSet(clientSecret, (given) => ({
        clientID: ofSecret('client_id', given.client_id),
        tenantID: ofSecret('tenant_id', given.tenant_id),
        clientSecret: ofSecret('client_secret', given.client_secret),
      })) ??
      ifSet(clientCertificate, (given) => ({
        clientID: ofCertificate('client_id', given.client_id),
        tenantID: ofCertificate('tenant_id', given.tenant_id),
        clientCertificate: ofCertificate('client_certificate', given.client_certificate),
      })),
    managedIdentity: ifSet(managedIdentity, (given) => defined(given)),
    workloadIdentity: ifSet(workloadIdentity, () => true),
  })
}

export function renderGcp(
  { type, audience, credential }: NonNullable<Fields['gcp']>,
  path: string,
  context: BuildContext,
): NonNullable<RenderedAuth['cloudC']> {
  const tokenType = type === 'idToken' ? 'IdToken' : 'AccessToken'
  return {
    type: tokenType,
    ...defined({
      secretRef: ifSet(credential, (given) => {
        const at = pathTo(path, 'credential')
        const ref = secretAt(at, given, context)
        const value = context.valueOf(ref) ?? ''
        const problem = value === '' ? undefined : credentialProblem(value, tokenType)
        if (problem !== undefined) context.warn(at, `${problem}; ${EFFECT}`)
        return ref
      }),
      audience,
    }),
  }
}

/** One of a cloud; a value without content is reported. */
function secretAt(path: string, given: FileOrInline, context: BuildContext): SecretRef {
  const ref = context.secret(path, given)
  if (context.valueOf(ref) === '') context.warn(path, `is empty; ${EFFECT}`)
  return ref
}
