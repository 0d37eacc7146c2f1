// backend.tls. What cannot be verified as written is refused: traffic never goes out less protected than asked for.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendTLS } from '#api/v1alpha1/shared.gen.ts'
import { nameKey } from '../object-ref.ts'
import { denyBroken, denyNotProgrammed, type Emission, type FieldContext, type FieldTranslator } from './field.ts'

const NOT_RUN = ['mtlsCertificateRef', 'verifySubjectAltNames', 'keyExchangeGroups'] as const satisfies ReadonlyArray<
  keyof BackendTLS
>

const SUFFIX = 'tls'
const CA_KEY = 'ca.crt'

export const backendTls: FieldTranslator<BackendTLS, BackendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const missing = NOT_RUN.find((field) => value[field] !== undefined)
    return [missing === undefined ? render(value, context) : denyNotProgrammed(context, SUFFIX, missing)]
  },
}

function render(value: BackendTLS, context: FieldContext): Emission<BackendPayload> {
  const { sni, insecureSkipVerify, alpnProtocols } = value
  const authority = caBundle(value, context)
  if ('fault' in authority) {
    const { fault: message } = authority
    const path = `${context.path}.caCertificateRefs[0]`
    return denyBroken(context, SUFFIX, { path, reason: 'InvalidCACertificateRef', message })
  }
  return {
    suffix: SUFFIX,
    payload: {
      tls: {
        ...(sni !== undefined && { sni }),
        ...(authority.pem !== undefined && { caCertificates: authority.pem }),
        ...(insecureSkipVerify !== undefined && { insecureSkipVerify }),
        ...(alpnProtocols !== undefined && { alpnProtocols: [...alpnProtocols] }),
      },
    },
  }
}

/** Without a reference the system's authorities are trusted. */
function caBundle({ caCertificateRefs }: BackendTLS, context: FieldContext): { pem?: string } | { fault: string } {
  const [ref] = caCertificateRefs ?? []
  if (ref === undefined) return {}
  const { owner, configMaps } = context.scope
  const name = nameKey(owner.namespace, ref.name)
  const configMap = configMaps.get(owner.namespace, ref.name)
  if (configMap === undefined) return { fault: `ConfigMap ${name} not found` }
  const pem = configMap.data?.[CA_KEY]
  if (pem === undefined || !pem.includes('-----BEGIN CERTIFICATE-----')) {
    return { fault: `ConfigMap ${name} holds no PEM certificate under ${CA_KEY}` }
  }
  return { pem }
}
