// TLS towards the server of a key set: the settings of the backend itself, and of GwPolicies and BackendTLSPolicies on
// it. Port 443 alone does not enable TLS.
import { createHash } from 'node:crypto'
import type { BackendPayload, RenderedSecret, SecretRef } from '#api/ir/types.gen.ts'
import type { BackendTLS } from '#api/v1alpha1/shared.gen.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import type { KubeObject, Service } from '../kube.ts'
import { matchesLabels } from '../labels.ts'
import { namespaceOf, refOf } from '../object-ref.ts'
import type { ReferenceScope } from '../service/reference.ts'
import type { Snapshot } from '../snapshot.ts'
import { backendTlsPayload } from './backend-tls-policy.ts'
import { backendTls } from './backend-tls.ts'
import { emptyReport } from './field.ts'

/** Holds a private key if a client certificate is set: never logged, never written. */
export interface JwksTls {
  /** Digest of all settings. */
  readonly fingerprint: string
  readonly serverName?: string
  readonly caCertificates?: string
  readonly insecureSkipVerify?: 'All' | 'Hostname'
  readonly alpnProtocols?: readonly string[]
  readonly verifySubjectAltNames?: readonly string[]
  readonly keyExchangeGroups?: readonly string[]
  readonly clientCertificate?: string
  readonly clientKey?: string
}

export type TlsTarget = {
  readonly group: string
  /** Names of the part that is called, as section names of policies. */
  readonly sections: readonly string[]
} & (
  | { readonly kind: 'Service'; readonly object: Service }
  | { readonly kind: 'GwBackend'; readonly object: GwBackend & KubeObject }
)

interface TlsFault {
  readonly reason: string
  readonly message: string
}

/** undefined: plain text. Settings that cannot be applied are a fault, never plain text. */
export function jwksTls(target: TlsTarget, references: ReferenceScope): JwksTls | TlsFault | undefined {
  const inline = target.kind === 'GwBackend' ? target.object.spec.policies?.tls : undefined
  if (inline !== undefined) return ofField(inline, target.object, references)
  const { snapshot } = references
  // The more specific policy first; on one level our own API first; then the older one.
  return (
    attached(target, references, (ref) => ref.sectionName !== undefined) ??
    attached(target, references, (ref) => ref.sectionName === undefined) ??
    selected(target, snapshot, references)
  )
}

/** Settings of a standalone file or of a payload, completed. */
export function tlsOf(settings: Omit<JwksTls, 'fingerprint'>): JwksTls {
  const entries = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...settings, fingerprint: createHash('sha256').update(JSON.stringify(entries)).digest('hex') }
}

function attached(
  target: TlsTarget,
  references: ReferenceScope,
  isLevel: (ref: SectionRef) => boolean,
): JwksTls | TlsFault | undefined {
  const { GwPolicy, BackendTLSPolicy } = references.snapshot
  const namespace = namespaceOf(target.object)
  const isHere = (policy: KubeObject): boolean => namespaceOf(policy) === namespace
  const names = (ref: SectionRef & { readonly name: string }): boolean => isLevel(ref) && isNamed(ref, target)
  for (const policy of GwPolicy.all) {
    const tls = policy.spec.backend?.tls
    if (tls !== undefined && isHere(policy) && (policy.spec.targetRefs ?? []).some(names)) {
      return ofField(tls, policy, references)
    }
  }
  const foreign = BackendTLSPolicy.all.find((policy) => isHere(policy) && policy.spec.targetRefs.some(names))
  return foreign === undefined ? undefined : ofPayload(backendTlsPayload(foreign, references.snapshot).payload, [])
}

function selected(target: TlsTarget, { GwPolicy }: Snapshot, references: ReferenceScope): ReturnType<typeof jwksTls> {
  const { object } = target
  for (const policy of GwPolicy.all) {
    const tls = policy.spec.backend?.tls
    if (tls === undefined || (policy.metadata.namespace ?? '') !== namespaceOf(object)) continue
    const isSelected = (policy.spec.targetSelectors ?? []).some(
      ({ matchLabels, ...ref }) => matchesLabels(matchLabels, object.metadata.labels) && isSection(ref, target),
    )
    if (isSelected) return ofField(tls, policy, references)
  }
  return undefined
}

/** Read as the proxy's own connections would read it. */
function ofField(value: BackendTLS, owner: KubeObject, references: ReferenceScope): JwksTls | TlsFault {
  const report = emptyReport()
  const { snapshot } = references
  const [emission] = backendTls.translate(value, {
    path: 'tls',
    field: 'tls',
    moment: 'start',
    report,
    scope: {
      owner: refOf(owner),
      targetKinds: new Set(),
      secrets: snapshot.Secret,
      configMaps: snapshot.ConfigMap,
      references,
      keySets: () => undefined,
    },
  })
  return ofPayload(emission?.payload ?? {}, report.secrets)
}

function ofPayload({ tls, deny }: BackendPayload, secrets: readonly RenderedSecret[]): JwksTls | TlsFault {
  if (deny !== undefined || tls === undefined) {
    return { reason: 'InvalidTLS', message: `TLS to the server of the keys: ${deny?.message ?? 'no settings'}` }
  }
  const { sni, clientCertificate, clientKey, ...rest } = tls
  const valueOf = (ref: SecretRef): string => secrets.find(({ key }) => key === ref.secret)?.value ?? ''
  return tlsOf({
    ...rest,
    ...(sni !== undefined && { serverName: sni }),
    ...(clientCertificate !== undefined && { clientCertificate: valueOf(clientCertificate) }),
    ...(clientKey !== undefined && { clientKey: valueOf(clientKey) }),
  })
}

interface SectionRef {
  readonly group: string
  readonly kind: string
  readonly sectionName?: string
}

function isNamed(ref: SectionRef & { readonly name: string }, target: TlsTarget): boolean {
  return ref.name === target.object.metadata.name && isSection(ref, target)
}

function isSection({ group, kind, sectionName }: SectionRef, target: TlsTarget): boolean {
  return (
    group === target.group &&
    kind === target.kind &&
    (sectionName === undefined || target.sections.includes(sectionName))
  )
}
