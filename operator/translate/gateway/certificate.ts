// The certificates of a TLS listener: core Secrets with a certificate and its key, granted if foreign. A listener
// with an invalid certificate is delivered all the same, so that no other listener answers in its place.
import type { GatewayListener } from '#api/gateway/gateway.gen.ts'
import type { ListenerTLS, RenderedSecret } from '#api/ir/types.gen.ts'
import { CORE_GROUP, GATEWAY_GROUP, GW_GROUP } from '../groups.ts'
import type { IsPermitted } from '../grants.ts'
import type { Secret } from '../kube.ts'
import { nameKey } from '../object-ref.ts'
import type { ObjectIndex } from '../snapshot.ts'
import { faultText, type ListenerFault } from './listener.ts'
import { authorityFault, CERTIFICATE_KEY, PRIVATE_KEY, type TlsPair, tlsPair } from './tls-pair.ts'

export interface CertificateScope {
  readonly owner: { readonly kind: 'Gateway' | 'ListenerSet'; readonly namespace: string }
  readonly secrets: ObjectIndex<Secret>
  readonly isPermitted: IsPermitted
}

export interface ListenerCertificate {
  /** Absent: the protocol has no TLS. */
  readonly tls?: ListenerTLS
  readonly secrets: readonly RenderedSecret[]
  readonly fault?: ListenerFault
}

/** `DYNAMIC_CA`: a Secret with a CA certificate that signs certificates on demand. */
const SOURCE_OPTION = `${GW_GROUP}/tls-certificate-source`
const MINTED = 'DYNAMIC_CA'
/** The certificate of the proxy in its mesh; `ISTIO_MUTUAL`: only for workloads of the mesh. */
const MESH_OPTION = 'gateway.istio.io/tls-terminate-mode'
const MESH_MODES = { ISTIO_SIMPLE: 'Simple', ISTIO_MUTUAL: 'Mutual' } as const

export function listenerCertificate(listener: GatewayListener, scope: CertificateScope): ListenerCertificate {
  const { protocol, tls } = listener
  if (protocol === 'HBONE') return tunnels(tls)
  if (protocol !== 'HTTPS' && protocol !== 'TLS') return { secrets: [] }
  if (tls?.mode !== 'Passthrough') return terminating(tls, scope)
  if (protocol === 'TLS') return { tls: { mode: 'Passthrough' }, secrets: [] }
  return broken({ ...invalid('Passthrough needs a listener of protocol TLS'), field: 'tls.mode' })
}

function terminating(tls: GatewayListener['tls'], scope: CertificateScope): ListenerCertificate {
  const option = optionFault(tls?.options ?? {})
  if (option !== undefined) return broken(option)
  const refs = tls?.certificateRefs ?? []
  const mesh = meshMode(tls)
  if (mesh !== undefined)
    return ofMesh(mesh, refs.length > 0 ? 'remove the entries, or the option of the mesh' : undefined)
  if (refs.length === 0) return broken({ ...invalid('mode Terminate needs one entry'), field: 'tls.certificateRefs' })
  return ofReferences(refs, tls, scope)
}

function ofReferences(
  refs: NonNullable<NonNullable<GatewayListener['tls']>['certificateRefs']>,
  tls: GatewayListener['tls'],
  scope: CertificateScope,
): ListenerCertificate {
  const pairs: Exclude<CertificateOutcome, { fault: ListenerFault }>[] = []
  for (const [at, one] of refs.entries()) {
    const outcome = certificatePair(one, scope, isMinted(tls) ? authorityFault : undefined)
    // With only the others, some names would have no certificate.
    if ('fault' in outcome) {
      return broken({ ...outcome.fault, field: `tls.certificateRefs[${at}]` })
    }
    pairs.push(outcome)
  }
  return isMinted(tls) ? minting(pairs) : joined(pairs)
}

/** Only workloads of the mesh open tunnels. */
function tunnels(tls: GatewayListener['tls']): ListenerCertificate {
  const option = optionFault(tls?.options ?? {})
  if (option !== undefined) return broken(option)
  if (tls?.mode === 'Passthrough') {
    return broken({ ...invalid('protocol HBONE needs mode Terminate'), field: 'tls.mode' })
  }
  return ofMesh('Mutual', (tls?.certificateRefs ?? []).length > 0 ? 'remove the entries' : undefined)
}

/** `cure`: there are entries in certificateRefs. */
function ofMesh(mesh: NonNullable<ListenerTLS['mesh']>, cure: string | undefined): ListenerCertificate {
  if (cure === undefined) return { tls: { mode: 'Terminate', mesh }, secrets: [] }
  return broken({ ...invalid(`the certificate is that of the mesh; ${cure}`), field: 'tls.certificateRefs' })
}

/** Set: the listener has the certificate of the mesh. */
export function meshMode(tls: GatewayListener['tls']): ListenerTLS['mesh'] {
  const value = tls?.options?.[MESH_OPTION] ?? ''
  return isMeshMode(value) ? MESH_MODES[value] : undefined
}

function isMeshMode(value: string): value is keyof typeof MESH_MODES {
  return Object.hasOwn(MESH_MODES, value)
}

/** Whether certificates are signed on demand. */
export function isMinted(tls: GatewayListener['tls']): boolean {
  return tls?.options?.[SOURCE_OPTION] === MINTED
}

function minting(pairs: readonly Exclude<CertificateOutcome, { fault: ListenerFault }>[]): ListenerCertificate {
  const [first, second] = pairs
  if (first === undefined || second !== undefined) {
    return broken(invalid(`${MINTED} needs exactly one entry in tls.certificateRefs: the Secret of the CA certificate`))
  }
  return { tls: { ...first.tls, signsCertificates: true }, secrets: first.secrets }
}

/** An ignored option could mean less protection than the user requires. */
function optionFault(options: Readonly<Record<string, string>>): ListenerFault | undefined {
  for (const name of [SOURCE_OPTION, MESH_OPTION] as const) {
    const value = Object.hasOwn(options, name) ? options[name] : undefined
    if (value === undefined || KNOWN[name].includes(value)) continue
    const cure = 'remove the option and name a Secret of type kubernetes.io/tls in tls.certificateRefs'
    const message = `${value} is not a known value (${KNOWN[name].join(', ')}); ${cure}`
    return { ...invalid(message), field: `tls.options[${name}]` }
  }
  if (options[SOURCE_OPTION] === undefined || options[MESH_OPTION] === undefined) return undefined
  const message = `${SOURCE_OPTION} and ${MESH_OPTION} cannot be combined; remove one of them`
  return { ...invalid(message), field: 'tls.options' }
}

const KNOWN: Readonly<Record<typeof SOURCE_OPTION | typeof MESH_OPTION, readonly string[]>> = {
  [SOURCE_OPTION]: [MINTED],
  [MESH_OPTION]: Object.keys(MESH_MODES),
}

function joined(pairs: readonly Exclude<CertificateOutcome, { fault: ListenerFault }>[]): ListenerCertificate {
  const [first, ...others] = pairs
  const [one, ...more] = others.map(({ tls: { certificate, privateKey } }) => ({ certificate, privateKey }))
  // A Secret may be named twice.
  const secrets = new Map(pairs.flatMap((pair) => pair.secrets.map((secret) => [secret.key, secret])))
  return {
    ...(first && { tls: { ...first.tls, ...(one && { moreCertificates: [one, ...more] }) } }),
    secrets: [...secrets.values()],
  }
}

export interface CertificateRef {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  readonly namespace?: string
}

export type CertificateOutcome =
  | { readonly tls: ListenerTLS & RefPair; readonly secrets: readonly RenderedSecret[] }
  | { readonly fault: ListenerFault }

type RefPair = Required<Pick<ListenerTLS, 'certificate' | 'privateKey'>>

/** `judge` may find another fault in a matching pair. */
export function certificatePair(
  ref: CertificateRef,
  scope: CertificateScope,
  judge?: (pair: TlsPair) => string | undefined,
): CertificateOutcome {
  const { owner, secrets, isPermitted } = scope
  const { group = CORE_GROUP, kind = 'Secret', namespace = owner.namespace } = ref
  if (group !== CORE_GROUP || kind !== 'Secret') {
    return { fault: invalid(`unsupported certificate reference of kind ${kind}; use a core Secret`) }
  }
  const name = nameKey(namespace, ref.name)
  const to = { group: CORE_GROUP, kind: 'Secret', namespace, name: ref.name }
  if (!isPermitted({ from: { group: GATEWAY_GROUP, ...owner }, to })) {
    const message = `secret ${name} is not accessible to a ${owner.kind} in namespace ${owner.namespace}; add a ReferenceGrant in namespace ${namespace}`
    return { fault: { reason: 'RefNotPermitted', message } }
  }
  const secret = secrets.get(namespace, ref.name)
  if (secret === undefined) return { fault: invalid(`secret ${name} not found`) }
  const outcome = tlsPair(secret)
  if ('fault' in outcome) {
    return { fault: invalid(`secret ${name} ${outcome.fault}`) }
  }
  const fault = judge?.(outcome.pair)
  return fault === undefined ? rendered(name, outcome.pair) : { fault: invalid(`secret ${name} ${fault}`) }
}

function rendered(name: string, { certificate, privateKey }: TlsPair): CertificateOutcome {
  const certificateKey = `${name}/${CERTIFICATE_KEY}`
  const privateKeyKey = `${name}/${PRIVATE_KEY}`
  return {
    tls: { mode: 'Terminate', certificate: { secret: certificateKey }, privateKey: { secret: privateKeyKey } },
    secrets: [
      { key: certificateKey, value: certificate },
      { key: privateKeyKey, value: privateKey },
    ],
  }
}

function broken(fault: ListenerFault): ListenerCertificate {
  return { tls: { mode: 'Terminate', invalid: faultText(fault) }, secrets: [], fault }
}

function invalid(message: string): ListenerFault {
  return { reason: 'InvalidCertificateRef', message }
}
