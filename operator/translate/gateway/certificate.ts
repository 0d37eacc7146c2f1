// The certificate references of a TLS listener: one core Secret with a certificate and a key, granted if foreign.
import type { GatewayListener } from '#api/gateway/gateway.gen.ts'
import { CORE_GROUP, GATEWAY_GROUP } from '../groups.ts'
import type { IsPermitted } from '../grants.ts'
import type { Secret } from '../kube.ts'
import { nameKey } from '../object-ref.ts'
import { secretValue } from '../secret-value.ts'
import type { ObjectIndex } from '../snapshot.ts'
import type { ListenerFault } from './listener.ts'

export interface CertificateScope {
  readonly owner: { readonly kind: 'Gateway' | 'ListenerSet'; readonly namespace: string }
  readonly secrets: ObjectIndex<Secret>
  readonly isPermitted: IsPermitted
}

const CERTIFICATE_KEY = 'tls.crt'
const PRIVATE_KEY = 'tls.key'

export function certificateFault(listener: GatewayListener, scope: CertificateScope): ListenerFault | undefined {
  const { protocol, tls } = listener
  if (protocol !== 'HTTPS' && protocol !== 'TLS') return undefined
  if (tls?.mode === 'Passthrough') {
    return protocol === 'TLS' ? undefined : invalid('mode Passthrough needs a listener of protocol TLS')
  }
  const refs = tls?.certificateRefs ?? []
  const [ref] = refs
  if (ref === undefined) return invalid('mode Terminate needs one entry in tls.certificateRefs')
  return refs.length > 1 ? invalid('only one entry in tls.certificateRefs is supported') : referenceFault(ref, scope)
}

type CertificateRef = NonNullable<NonNullable<GatewayListener['tls']>['certificateRefs']>[number]

function referenceFault(ref: CertificateRef, scope: CertificateScope): ListenerFault | undefined {
  const { owner, secrets, isPermitted } = scope
  const { group = CORE_GROUP, kind = 'Secret', namespace = owner.namespace } = ref
  if (group !== CORE_GROUP || kind !== 'Secret') {
    return invalid(`unsupported certificate reference of kind ${kind}; use a core Secret`)
  }
  const name = nameKey(namespace, ref.name)
  const to = { group: CORE_GROUP, kind: 'Secret', namespace, name: ref.name }
  if (!isPermitted({ from: { group: GATEWAY_GROUP, ...owner }, to })) {
    const message = `secret ${name} is not accessible to a ${owner.kind} in namespace ${owner.namespace}; add a ReferenceGrant`
    return { reason: 'RefNotPermitted', message }
  }
  return secretFault(secrets.get(namespace, ref.name), name)
}

function secretFault(secret: Secret | undefined, name: string): ListenerFault | undefined {
  if (secret === undefined) return invalid(`secret ${name} not found`)
  const certificate = secretValue(secret, CERTIFICATE_KEY)
  const key = secretValue(secret, PRIVATE_KEY)
  if (certificate === undefined || !/-----BEGIN CERTIFICATE-----/.test(certificate)) {
    return invalid(`secret ${name} holds no PEM certificate under ${CERTIFICATE_KEY}`)
  }
  if (key === undefined || !/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    return invalid(`secret ${name} holds no PEM private key under ${PRIVATE_KEY}`)
  }
  return undefined
}

function invalid(message: string): ListenerFault {
  return { reason: 'InvalidCertificateRef', message }
}
