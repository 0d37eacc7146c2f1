// backend.tls. Settings that cannot be applied as written reject the traffic: it is never sent with less protection.
import type { BackendPayload, BackendTLS as RenderedTLS } from '#api/ir/types.gen.ts'
import type { BackendTLS } from '#api/v1alpha1/shared.gen.ts'
import { certificatesOnly } from '#api/tls/certificate-bundle.ts'
import { CERTIFICATE_KEY, isCertificateBundle, PRIVATE_KEY, type TlsPair, tlsPair } from '../gateway/tls-pair.ts'
import { nameKey } from '../object-ref.ts'
import { secretValue } from '../secret-value.ts'
import { denyBroken, type Emission, type FieldContext, type FieldTranslator } from './field.ts'

const SUFFIX = 'tls'
const CA_KEY = 'ca.crt'
/** The first of these entries in the Secret with the client certificate; a ConfigMap takes precedence. */
const SECRET_CA_KEYS = [CA_KEY, 'ca.cert'] as const

export const backendTls: FieldTranslator<BackendTLS, BackendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => [render(value, context)],
}

interface Fault {
  readonly field: string
  readonly reason: string
  readonly message: string
}

function render(value: BackendTLS, context: FieldContext): Emission<BackendPayload> {
  const { sni, insecureSkipVerify, alpnProtocols, verifySubjectAltNames, keyExchangeGroups } = value
  const client = clientCertificateOf(value, context)
  if ('fault' in client) return deny(client.fault, context)
  const authority = caBundle(value, context)
  if ('fault' in authority) return deny(authority.fault, context)
  const caCertificates = authority.pem ?? client.caCertificates
  return {
    suffix: SUFFIX,
    payload: {
      tls: {
        ...(sni !== undefined && { sni }),
        ...(caCertificates !== undefined && { caCertificates }),
        ...(insecureSkipVerify !== undefined && { insecureSkipVerify }),
        ...(alpnProtocols !== undefined && { alpnProtocols: [...alpnProtocols] }),
        ...client.tls,
        ...(verifySubjectAltNames !== undefined && { verifySubjectAltNames: [...verifySubjectAltNames] }),
        ...(keyExchangeGroups !== undefined && { keyExchangeGroups: [...keyExchangeGroups] }),
      },
    },
  }
}

function deny({ field, reason, message }: Fault, context: FieldContext): Emission<BackendPayload> {
  return denyBroken(context, SUFFIX, { path: `${context.path}.${field}`, reason, message })
}

/** Without a reference the system's CA certificates are trusted. */
function caBundle({ caCertificateRefs }: BackendTLS, context: FieldContext): { pem?: string } | { fault: Fault } {
  const [ref] = caCertificateRefs ?? []
  if (ref === undefined) return {}
  const { owner, configMaps } = context.scope
  const name = nameKey(owner.namespace, ref.name)
  const fault = (message: string): { fault: Fault } => ({
    fault: { field: 'caCertificateRefs[0]', reason: 'InvalidCACertificateRef', message },
  })
  const configMap = configMaps.get(owner.namespace, ref.name)
  if (configMap === undefined) return fault(`ConfigMap ${name} not found`)
  const pem = configMap.data?.[CA_KEY]
  if (pem === undefined || !isCertificateBundle(pem)) {
    return fault(`ConfigMap ${name} has no PEM certificate under ${CA_KEY}`)
  }
  return { pem: certificatesOnly(pem) }
}

interface ClientCertificate {
  readonly tls: Pick<RenderedTLS, 'clientCertificate' | 'clientKey'>
  readonly caCertificates?: string
}

function clientCertificateOf(
  { mtlsCertificateRef }: BackendTLS,
  context: FieldContext,
): ClientCertificate | { fault: Fault } {
  const [ref] = mtlsCertificateRef ?? []
  if (ref === undefined) return { tls: {} }
  const { owner, secrets } = context.scope
  const name = nameKey(owner.namespace, ref.name)
  const fault = (reason: string, message: string): { fault: Fault } => ({
    fault: { field: 'mtlsCertificateRef[0]', reason, message },
  })
  const { group = '', kind = '' } = ref
  if (group !== '' || !['', 'Secret'].includes(kind)) {
    return fault('InvalidKind', `unsupported client certificate kind ${kind}; use a core Secret`)
  }
  const secret = secrets.get(owner.namespace, ref.name)
  if (secret === undefined) return fault('SecretNotFound', `secret ${name} not found`)
  const outcome = tlsPair(secret)
  if ('fault' in outcome) return fault('InvalidClientCertificateRef', `secret ${name} ${outcome.fault}`)
  const tls = renderPair(name, outcome.pair, context)
  const caKey = SECRET_CA_KEYS.find((key) => secretValue(secret, key) !== undefined)
  if (caKey === undefined) return { tls }
  const authority = secretValue(secret, caKey) ?? ''
  if (!isCertificateBundle(authority)) {
    return fault('InvalidCACertificateRef', `secret ${name} has no PEM certificate under ${caKey}`)
  }
  return { tls, caCertificates: certificatesOnly(`${authority}\n`) }
}

function renderPair(name: string, pair: TlsPair, { report }: FieldContext): ClientCertificate['tls'] {
  const clientCertificate = { secret: `${name}/${CERTIFICATE_KEY}` }
  const clientKey = { secret: `${name}/${PRIVATE_KEY}` }
  report.secrets.push(
    { key: clientCertificate.secret, value: pair.certificate },
    { key: clientKey.secret, value: pair.privateKey },
  )
  return { clientCertificate, clientKey }
}
