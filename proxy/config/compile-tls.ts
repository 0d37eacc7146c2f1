// The listeners of a TLS bind: which of them a server name selects, and the handshake of each. An invalid listener
// rejects handshakes; it never falls back to another certificate, or to none.
import type { Listener, ListenerTLS } from '#api/ir/types.gen.ts'
import type { ListenerFrontend } from '../policy/fields.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { RequestHandler } from '../http/handler.ts'
import { meshIdentity } from '../mesh/mesh-secrets.ts'
import { hostOf } from '../message/authority.ts'
import { buildHostMap, type HostMap } from '../route/host-map.ts'
import type { TcpPlan } from '../tcp/plan.ts'
import { httpAlpn, rawAlpn } from '../tls/alpn.ts'
import type { CertificatePair } from '../tls/certificates.ts'
import type { TlsAction, TlsBindPlan, TlsListenerPlan } from '../tls/plan.ts'
import { checkNames, fingerprint, HANDSHAKE_TIMEOUT_MS, type TlsSettings } from '../tls/settings.ts'
import type { CompileContext } from './context.ts'

export interface TlsListenerInput {
  readonly listener: Listener
  readonly place: ExchangePlace
  readonly frontend: ListenerFrontend
  /** Of listeners that speak HTTP. */
  readonly handler: () => RequestHandler
  /** Of those with protocol HBONE. */
  readonly hbone: () => RequestHandler
  /** Of the others. */
  readonly tcp: () => TcpPlan
}

export interface TlsBindInput {
  /** In order of precedence. */
  readonly listeners: readonly TlsListenerInput[]
  readonly handshakeTimeoutMs: number | undefined
  readonly secret: CompileContext['secret']
  readonly warn: (message: string) => void
}

export function compileTls({ listeners, handshakeTimeoutMs, secret, warn }: TlsBindInput): TlsBindPlan {
  const byKey = new Map<string, TlsListenerPlan>()
  const byName = new Map<string | undefined, TlsListenerPlan>()
  for (const input of listeners) {
    const { key, hostname } = input.listener
    const action = actionOf(input, { secret, warn: (message) => warn(`listener ${key}: ${message}`) })
    const own = fingerprintOf(input.listener, action)
    const plan: TlsListenerPlan = { key, place: input.place, fingerprint: own, action }
    byKey.set(key, plan)
    const name = hostname?.toLowerCase()
    // The translator resolves conflicts; the first of two equal names also wins here.
    if (!byName.has(name)) byName.set(name, plan)
  }
  const names = buildHostMap(byName)
  return {
    kind: 'TLS',
    handshakeTimeoutMs: handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
    listeners: byKey,
    find: (serverName) => names.find(serverName ?? '')?.value,
  }
}

/** The listener of a request whose connection belongs to one listener and whose host to another. */
export type HostVerdict = 'misdirectedRequest' | 'listenerNotFound' | undefined

/** All listeners of a TLS bind by host name. */
export function listenerNames(listeners: readonly Listener[]): HostMap<Listener> {
  const byName = new Map<string | undefined, Listener>()
  for (const listener of listeners) {
    const name = listener.hostname?.toLowerCase()
    if (!byName.has(name)) byName.set(name, listener)
  }
  return buildHostMap(byName)
}

export function hostCheck(own: Listener, names: HostMap<Listener>): (host: string) => HostVerdict {
  return (host) => {
    const fitting = names.find(hostOf(host))?.value
    if (fitting === own) return undefined
    return fitting === undefined ? 'listenerNotFound' : 'misdirectedRequest'
  }
}

interface ActionContext {
  readonly secret: CompileContext['secret']
  readonly warn: (message: string) => void
}

function actionOf(input: TlsListenerInput, context: ActionContext): TlsAction {
  const { tls = {}, protocol } = input.listener
  const isTls = protocol === 'HTTPS' || protocol === 'TLS' || protocol === 'HBONE'
  if (!isTls) return refuse(`protocol ${protocol} is not allowed on a TLS port`)
  if (tls.invalid !== undefined) return refuse(tls.invalid)
  if (protocol === 'HBONE') return hboneAction(input, context)
  if (tls.mode === 'Passthrough') {
    return protocol === 'TLS' ? { kind: 'Passthrough', tcp: input.tcp() } : refuse('HTTPS cannot be passed through')
  }
  const settings = settingsOf(input, context)
  if ('reason' in settings) return refuse(settings.reason)
  return protocol === 'HTTPS'
    ? { kind: 'Http', settings, handler: input.handler() }
    : { kind: 'Tcp', settings, tcp: input.tcp() }
}

/** Only workloads of the mesh may open tunnels, and only over HTTP/2. */
function hboneAction(input: TlsListenerInput, context: ActionContext): TlsAction {
  if (input.listener.tls?.mesh !== 'Mutual') return refuse('protocol HBONE needs certificates of the mesh')
  const settings = settingsOf(input, context)
  if ('reason' in settings) return refuse(settings.reason)
  return { kind: 'Http', settings: { ...settings, alpnProtocols: ['h2'] }, handler: input.hbone() }
}

function settingsOf(
  { listener: { tls = {}, protocol }, frontend }: TlsListenerInput,
  { secret, warn }: ActionContext,
): TlsSettings | { readonly reason: string } {
  const pairs = tls.mesh === undefined ? pairsOf(tls, secret) : meshPair(tls.mesh, secret)
  if (pairs === undefined) {
    const what = tls.mesh === undefined ? 'certificate' : 'certificate of the mesh'
    warn(`its ${what} is missing; handshakes fail`)
    return { reason: `the ${what} is missing` }
  }
  const { tls: policy = {} } = frontend
  const names = checkNames(policy)
  const alpn = (protocol === 'HTTPS' ? httpAlpn : rawAlpn)(policy.alpnProtocols)
  for (const warning of [...names.warnings, ...alpn.warnings]) warn(warning)
  if (names.fault !== undefined) return { reason: names.fault }
  return {
    signsCertificates: tls.signsCertificates ?? false,
    clientCertificates: tls.clientCertificates,
    ...pairs,
    policy,
    alpnProtocols: alpn.protocols,
  }
}

/** undefined: the proxy has no certificate of the mesh, or that has ended. */
function meshPair(
  mode: NonNullable<ListenerTLS['mesh']>,
  secret: CompileContext['secret'],
): Pick<TlsSettings, 'certificate' | 'privateKey' | 'moreCertificates'> | undefined {
  const identity = meshIdentity(secret)
  if (identity === undefined || identity.untilMs <= Date.now()) return undefined
  const { chain, privateKey, roots, trustDomains } = identity
  const pair = { certificate: chain, privateKey, moreCertificates: [] }
  if (mode === 'Simple') return pair
  const clients: Pick<TlsSettings, 'clientCertificates' | 'trustDomains'> = {
    clientCertificates: { mode: 'AllowValidOnly', caCertificates: roots },
    trustDomains,
  }
  return { ...pair, ...clients }
}

/** undefined: one of them is missing. */
function pairsOf(
  { certificate, privateKey, moreCertificates = [] }: ListenerTLS,
  secret: CompileContext['secret'],
): Pick<TlsSettings, 'certificate' | 'privateKey' | 'moreCertificates'> | undefined {
  const pairs: CertificatePair[] = []
  for (const refs of [{ certificate, privateKey }, ...moreCertificates]) {
    const pair = { certificate: valueOf(refs.certificate, secret), privateKey: valueOf(refs.privateKey, secret) }
    if (pair.certificate === undefined || pair.privateKey === undefined) return undefined
    pairs.push({ certificate: pair.certificate, privateKey: pair.privateKey })
  }
  const [first, ...others] = pairs
  return first && { ...first, moreCertificates: others }
}

function valueOf(ref: ListenerTLS['certificate'], secret: CompileContext['secret']): string | undefined {
  const value = ref === undefined ? undefined : secret(ref)
  return value === '' ? undefined : value
}

function refuse(reason: string): TlsAction {
  return { kind: 'Refuse', reason }
}

/** The key includes the host name: a connection must be closed when the listener loses this name. */
function fingerprintOf({ hostname = '' }: Listener, action: TlsAction): string {
  const settings = action.kind === 'Http' || action.kind === 'Tcp' ? fingerprint(action.settings) : ''
  return `${action.kind} ${hostname.toLowerCase()} ${settings}`
}
