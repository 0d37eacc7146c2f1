// BackendTLSPolicy of Gateway API: TLS towards a Service, GwBackend or InferencePool, with the client certificate of
// each Gateway.
// Settings that cannot be applied as written reject the traffic: no request is sent in plain text if TLS is required.
import type { BackendTLSPolicy } from '#api/gateway/backendtlspolicy.gen.ts'
import type { BackendPayload, Policy } from '#api/ir/types.gen.ts'
import type { ClientCertificate } from '../gateway/client-certificate.ts'
import type { Defects } from '../defects.ts'
import type { Service } from '../kube.ts'
import type { Memory } from '../memory.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import type { RouteFault } from '../route-fault.ts'
import type { ParentLookup } from '../gateway/parent-lookup.ts'
import type { Snapshot } from '../snapshot.ts'
import { caBundle } from './ca-bundle.ts'
import { type Claimant, type Claims, nameOfOwner, ownerOf, TLS_UNIT } from './claims.ts'
import { resolveTarget } from './target-kinds.ts'
import type { ResolvedTarget, TargetLookup } from './target.ts'
import { targetKind } from './targets.ts'

export interface BackendTlsTranslation {
  readonly policy: BackendTLSPolicy
  readonly secrets: readonly []
  readonly perGateway: ReadonlyMap<string, BackendTlsAtGateway>
  /** Set: the traffic is rejected. */
  readonly invalid?: RouteFault
  /** Also if other references are usable. */
  readonly unresolved: readonly RouteFault[]
  /** Targets that do not exist. */
  readonly missing: readonly RouteFault[]
}

export interface BackendTlsAtGateway {
  readonly policies: readonly Policy[]
  /** Names of older policies with the same targets. */
  readonly winners: readonly string[]
  /** The client certificate of this Gateway cannot be used: its traffic is rejected. */
  readonly clientFault?: string
}

const VALIDATION = 'spec.validation'

/** A policy with its payload and its targets, and what it claims there. */
interface ClaimingTlsPolicy extends Claimant {
  readonly policy: BackendTLSPolicy
  readonly outcome: PayloadOutcome
  readonly found: Targets
}

/** Older first. */
export function backendTlsClaimants(
  memory: Memory,
  lookup: TargetLookup,
  defects: Defects,
): (policies: readonly BackendTLSPolicy[]) => readonly ClaimingTlsPolicy[] {
  const outcomes = memory.table<BackendTLSPolicy, PayloadOutcome>()
  return memory.list((policy: BackendTLSPolicy): ClaimingTlsPolicy => {
    const outcome = outcomes(policy, [], () =>
      defects.guarded(
        { object: policy, path: 'spec', what: 'the policy' },
        () => backendTlsPayload(policy, lookup.snapshot),
        ({ reason, message }) => refused(reason, `${message}; traffic to the target is rejected`, []),
      ),
    )
    const found = targetsOf(policy, lookup)
    const claims = new Map(found.targets.map(({ key }) => [key, [TLS_UNIT]]))
    return { owner: ownerOf(policy), claims, policy, outcome, found }
  })
}

export interface BackendTlsScope {
  /** Of all policies. */
  readonly claims: Claims
  readonly parents: ParentLookup
}

export function backendTlsAttacher(
  memory: Memory,
  scope: BackendTlsScope,
): (policies: readonly ClaimingTlsPolicy[]) => readonly BackendTlsTranslation[] {
  return memory.list((policy: ClaimingTlsPolicy) => attachOne(policy, scope))
}

function attachOne(one: ClaimingTlsPolicy, { claims, parents }: BackendTlsScope): BackendTlsTranslation {
  const { policy, owner, outcome, found } = one
  const { payload, invalid, unresolved } = outcome
  const perGateway = new Map<string, AtGateway>()
  const { targets, missing, misled } = found
  for (const target of targets) {
    const winner = claims.contested(target.key)?.get(TLS_UNIT) ?? owner
    for (const key of target.gateways) {
      const client = parents.certificateOf(key)
      const at = perGateway.get(key) ?? emptyAt(client)
      perGateway.set(key, at)
      if (winner === owner) at.policies.push(renderPolicy(policy, target, withClient(payload, client)))
      else at.winners.push(nameOfOwner(winner))
    }
  }
  for (const key of misled) {
    if (!perGateway.has(key)) perGateway.set(key, emptyAt(parents.certificateOf(key)))
  }
  return { policy, secrets: [], perGateway, unresolved, missing, ...(invalid !== undefined && { invalid }) }
}

interface AtGateway extends BackendTlsAtGateway {
  readonly policies: Policy[]
  readonly winners: string[]
}

const CLIENT_FIELD = 'Gateway.spec.tls.backend.clientCertificateRef'

function emptyAt(client: ClientCertificate | undefined): AtGateway {
  const at = { policies: [], winners: [] }
  return client?.fault === undefined ? at : { ...at, clientFault: `${CLIENT_FIELD}: ${client.fault.message}` }
}

function withClient(payload: BackendPayload, client: ClientCertificate | undefined): BackendPayload {
  if (client === undefined || payload.tls === undefined) return payload
  if (client.fault !== undefined)
    return { deny: { field: CLIENT_FIELD, message: client.fault.message, isBackendTls: true } }
  return { tls: { ...payload.tls, ...client.tls } }
}

interface Targets {
  readonly targets: readonly ResolvedTarget[]
  readonly missing: readonly RouteFault[]
  /** Gateways with routes to a Service without the named port. */
  readonly misled: readonly string[]
}

function targetsOf(policy: BackendTLSPolicy, lookup: TargetLookup): Targets {
  const namespace = namespaceOf(policy)
  const byKey = new Map<string, ResolvedTarget>()
  const missing: RouteFault[] = []
  const misled: string[] = []
  for (const [index, { group, kind, name, sectionName }] of policy.spec.targetRefs.entries()) {
    const known = targetKind({ group, kind })
    if (known !== 'Service' && known !== 'GwBackend' && known !== 'InferencePool') continue
    const named = { known, namespace, name, sectionName }
    const fault = missingTarget(named, lookup)
    if (fault === undefined) {
      const target = resolved(named, lookup)
      if (target !== undefined) byKey.set(target.key, target)
    } else {
      missing.push({ ...fault, path: `spec.targetRefs[${index}].${fault.path}` })
      misled.push(...(resolved({ ...named, sectionName: undefined }, lookup)?.gateways ?? []))
    }
  }
  return { targets: [...byKey.values()], missing, misled }
}

function resolved(
  { known, namespace, name, sectionName }: NamedTarget,
  lookup: TargetLookup,
): ResolvedTarget | undefined {
  const service = known === 'Service' ? lookup.snapshot.Service.get(namespace, name) : undefined
  const section = known === 'Service' ? portNumber(sectionName, service) : sectionName
  const hasSection = section !== undefined && known !== 'InferencePool'
  const outcome = resolveTarget({ kind: known, name, ...(hasSection && { sectionName: section }) }, namespace, lookup)
  return outcome === 'foreign' || 'unattached' in outcome ? undefined : outcome
}

interface NamedTarget {
  readonly known: 'Service' | 'GwBackend' | 'InferencePool'
  readonly namespace: string
  readonly name: string
  readonly sectionName: string | undefined
}

/** The controller that serves a pool reports about it. */
function missingTarget(
  { known, namespace, name, sectionName }: NamedTarget,
  { snapshot }: TargetLookup,
): RouteFault | undefined {
  if (known === 'InferencePool') return undefined
  const [reason, key] = ['TargetNotFound', nameKey(namespace, name)]
  const object = snapshot[known].get(namespace, name)
  if (object === undefined) return { path: 'name', reason, message: `there is no ${known} ${key}` }
  if (known !== 'Service' || sectionName === undefined) return undefined
  const ports = snapshot.Service.get(namespace, name)?.spec?.ports ?? []
  if (ports.some(({ name: own, port }) => own === sectionName || String(port) === sectionName)) return undefined
  const names = ports.map((port) => port.name ?? '').filter((one) => one !== '')
  const choice = names.length === 0 ? 'its ports have no names' : `its ports: ${names.join(', ')}`
  return { path: 'sectionName', reason, message: `Service ${key} has no port "${sectionName}" (${choice})` }
}

/** Here a section is the name of a Service port; rendered targets carry its number. An unknown name matches no port. */
function portNumber(name: string | undefined, service: Service | undefined): string | undefined {
  if (name === undefined) return undefined
  const ports = service?.spec?.ports ?? []
  return String(ports.find((port) => port.name === name)?.port ?? name)
}

/** The same at every Gateway, except for client certificates. */
export interface PayloadOutcome {
  readonly payload: BackendPayload
  readonly invalid?: RouteFault
  readonly unresolved: readonly RouteFault[]
}

/** The settings of the policy, independent of its targets. */
export function backendTlsPayload(policy: BackendTLSPolicy, snapshot: Snapshot): PayloadOutcome {
  const { hostname, subjectAltNames = [], caCertificateRefs = [], wellKnownCACertificates } = policy.spec.validation
  const { bundle, unresolved } = caBundle(policy, snapshot)
  const refuse = (reason: string, message: string): PayloadOutcome => refused(reason, message, unresolved)
  if (caCertificateRefs.length === 0 && wellKnownCACertificates !== 'System') {
    return refuse('NoValidCACertificate', 'set caCertificateRefs, or wellKnownCACertificates: System')
  }
  if (caCertificateRefs.length > 0 && bundle === '') {
    return refuse(
      'NoValidCACertificate',
      'no entry of caCertificateRefs contains a certificate; traffic to the target is rejected',
    )
  }
  const names = subjectAltNames.flatMap(({ hostname: name, uri }) => name ?? uri ?? [])
  if (names.length < subjectAltNames.length)
    return refuse('Invalid', 'each of subjectAltNames needs a hostname or a uri')
  const tls = {
    sni: hostname,
    ...(bundle !== '' && { caCertificates: bundle }),
    ...(names.length > 0 && { verifySubjectAltNames: names }),
  }
  return { payload: { tls }, unresolved }
}

function refused(reason: string, message: string, unresolved: readonly RouteFault[]): PayloadOutcome {
  return {
    payload: { deny: { field: `BackendTLSPolicy ${VALIDATION}`, message, isBackendTls: true } },
    invalid: { path: VALIDATION, reason, message },
    unresolved,
  }
}

function renderPolicy(policy: BackendTLSPolicy, target: ResolvedTarget, payload: BackendPayload): Policy {
  const namespace = namespaceOf(policy)
  const { name } = policy.metadata
  return {
    key: `${namespace}/${name}:backend-tls:${target.keySuffix}`,
    name: { kind: 'BackendTLSPolicy', namespace, name },
    target: target.target,
    policy: { backend: payload },
  }
}
