// The CA certificates that a BackendTLSPolicy names: ConfigMaps of its namespace.
import type { BackendTLSPolicy } from '#api/gateway/backendtlspolicy.gen.ts'
import { certificatesOnly } from '#api/tls/certificate-bundle.ts'
import { isCertificateBundle } from '../gateway/tls-pair.ts'
import { CORE_GROUP } from '../groups.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import type { RouteFault } from '../route-fault.ts'
import type { Snapshot } from '../snapshot.ts'

const CA_KEY = 'ca.crt'

/** Empty without any certificate. */
export function caBundle(policy: BackendTLSPolicy, snapshot: Snapshot): { bundle: string; unresolved: RouteFault[] } {
  const namespace = namespaceOf(policy)
  const unresolved: RouteFault[] = []
  const parts: string[] = []
  for (const [index, { group, kind, name }] of (policy.spec.validation.caCertificateRefs ?? []).entries()) {
    const path = `spec.validation.caCertificateRefs[${index}]`
    const place = nameKey(namespace, name)
    const pem = snapshot.ConfigMap.get(namespace, name)?.data?.[CA_KEY]
    if (group !== CORE_GROUP || kind !== 'ConfigMap') {
      unresolved.push({ path, reason: 'InvalidKind', message: `CA references of kind ${kind} are not supported` })
    } else if (pem === undefined || !isCertificateBundle(pem)) {
      const message = `ConfigMap ${place} not found, or has no PEM certificate under ${CA_KEY}`
      unresolved.push({ path, reason: 'InvalidCACertificateRef', message })
    } else parts.push(certificatesOnly(pem).trimEnd())
  }
  return { bundle: parts.length === 0 ? '' : `${parts.join('\n')}\n`, unresolved }
}
