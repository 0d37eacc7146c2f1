// Gateway spec.tls.backend: the certificate that the Gateway shows to the backends of BackendTLSPolicies.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { BackendTLS, RenderedSecret } from '#api/ir/types.gen.ts'
import { namespaceOf } from '../object-ref.ts'
import { certificatePair } from './certificate.ts'
import type { ListenerFault, ListenerScope } from './listener.ts'

export interface ClientCertificate {
  readonly tls: Pick<BackendTLS, 'clientCertificate' | 'clientKey'>
  readonly secrets: readonly RenderedSecret[]
  /** Set: the certificate cannot be used, so no request is sent to backends that require it. */
  readonly fault?: ListenerFault
}

/** Of the Gateway. */
const CLIENT_CERTIFICATE_REF = 'spec.tls.backend.clientCertificateRef'

/** Undefined when the Gateway names none. */
export function clientCertificateOf(gateway: Gateway, scope: ListenerScope): ClientCertificate | undefined {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef
  if (ref === undefined) return undefined
  const outcome = certificatePair(ref, {
    owner: { kind: 'Gateway', namespace: namespaceOf(gateway) },
    secrets: scope.snapshot.Secret,
    isPermitted: scope.isPermitted,
  })
  if ('fault' in outcome) {
    const { reason, message } = outcome.fault
    const own = reason === 'RefNotPermitted' ? reason : 'InvalidClientCertificateRef'
    return { tls: {}, secrets: [], fault: { reason: own, message, field: CLIENT_CERTIFICATE_REF } }
  }
  const { certificate, privateKey } = outcome.tls
  return { tls: { clientCertificate: certificate, clientKey: privateKey }, secrets: outcome.secrets }
}
