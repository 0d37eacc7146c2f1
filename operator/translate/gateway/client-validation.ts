// Gateway spec.tls.frontend: whether clients of HTTPS listeners must present a certificate, and which CA certificates
// are trusted.
import type { Gateway, GatewayListener } from '#api/gateway/gateway.gen.ts'
import type { ClientValidation } from '#api/ir/types.gen.ts'
import { certificatesOnly } from '#api/tls/certificate-bundle.ts'
import { CORE_GROUP, GATEWAY_GROUP } from '../groups.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import { isMinted, meshMode } from './certificate.ts'
import type { ListenerFault, ListenerScope } from './listener.ts'
import { isCertificateBundle } from './tls-pair.ts'

export interface ClientValidationOutcome {
  readonly validation?: ClientValidation
  /** The first reference that cannot be used; others may suffice. */
  readonly unresolvedRef?: ListenerFault
  /** Set: no reference can be used, so no client could be verified. */
  readonly unusable?: ListenerFault
}

const CA_KEY = 'ca.crt'
const MESH =
  'ISTIO_MUTUAL in tls.options cannot be combined with client certificates (spec.tls.frontend of the Gateway): ' +
  'clients must have one of the mesh; remove one of them, or use ISTIO_SIMPLE'
const MINTED =
  'DYNAMIC_CA in tls.options cannot be combined with client certificates (spec.tls.frontend of the Gateway); ' +
  'remove one of them'

/** A setting of the port replaces that of the Gateway. */
export function clientValidation(
  gateway: Gateway,
  { port, protocol, tls }: Pick<GatewayListener, 'port' | 'protocol' | 'tls'>,
  scope: ListenerScope,
): ClientValidationOutcome {
  const found = protocol === 'HTTPS' ? validationAt(gateway, port) : undefined
  if (found === undefined) return {}
  const { validation, path } = found
  if (isMinted(tls)) return { unusable: { reason: 'NoValidCACertificate', message: MINTED } }
  if (meshMode(tls) === 'Mutual') return { unusable: { reason: 'NoValidCACertificate', message: MESH } }
  const bundles: string[] = []
  const faults: ListenerFault[] = []
  for (const [at, ref] of validation.caCertificateRefs.entries()) {
    const outcome = bundleOf(gateway, ref, scope)
    if ('pem' in outcome) bundles.push(outcome.pem)
    else faults.push({ ...outcome.fault, message: `${outcome.fault.message}; see ${path}[${at}] of the Gateway` })
  }
  const [first] = faults
  const unresolved = first === undefined ? {} : { unresolvedRef: first }
  if (bundles.length === 0) {
    const why = first === undefined ? '' : `: ${first.message}`
    const message = `no CA certificate for clients can be used, so all clients are rejected${why}`
    return { ...unresolved, unusable: { reason: 'NoValidCACertificate', message } }
  }
  const { mode = 'AllowValidOnly' } = validation
  return { ...unresolved, validation: { mode, caCertificates: `${bundles.join('\n')}\n` } }
}

/** Whether some port of the Gateway accepts clients that could not be verified. */
export function hasInsecureFallback({ spec }: Gateway): boolean {
  const { frontend } = spec.tls ?? {}
  const all = [frontend?.default?.validation, ...(frontend?.perPort ?? []).map(({ tls }) => tls?.validation)]
  return all.some((validation) => validation?.mode === 'AllowInsecureFallback')
}

type Validation = NonNullable<NonNullable<NonNullable<Gateway['spec']['tls']>['frontend']>['default']['validation']>

function validationAt({ spec }: Gateway, port: number): { validation: Validation; path: string } | undefined {
  const { frontend } = spec.tls ?? {}
  const perPort = frontend?.perPort ?? []
  const own = perPort.find((one) => one.port === port)
  const [validation, place] = own
    ? [own.tls?.validation, `perPort[${perPort.indexOf(own)}].tls`]
    : [frontend?.default?.validation, 'default']
  return validation && { validation, path: `spec.tls.frontend.${place}.validation.caCertificateRefs` }
}

type Bundle = { readonly pem: string } | { readonly fault: ListenerFault }

function bundleOf(gateway: Gateway, ref: Validation['caCertificateRefs'][number], scope: ListenerScope): Bundle {
  const own = namespaceOf(gateway)
  const { group, kind, name, namespace = own } = ref
  const fault = (reason: string, message: string): Bundle => ({ fault: { reason, message } })
  if (group !== CORE_GROUP || kind !== 'ConfigMap') {
    return fault('InvalidCACertificateKind', `CA certificates in a ${kind} are not supported; use a ConfigMap`)
  }
  const place = nameKey(namespace, name)
  const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace: own }
  if (!scope.isPermitted({ from, to: { group: CORE_GROUP, kind: 'ConfigMap', namespace, name } })) {
    const message = `ConfigMap ${place} is not accessible to a Gateway in namespace ${own}; add a ReferenceGrant`
    return fault('RefNotPermitted', message)
  }
  const pem = scope.snapshot.ConfigMap.get(namespace, name)?.data?.[CA_KEY]
  if (pem === undefined || !isCertificateBundle(pem)) {
    return fault('InvalidCACertificateRef', `ConfigMap ${place} not found, or has no PEM certificate under ${CA_KEY}`)
  }
  return { pem: certificatesOnly(pem).trimEnd() }
}
