// Reports certificates that expire soon as Events on the Gateways that use them. Checks them periodically, because
// translation has no clock. Statuses do not report this: an expired certificate is served all the same.
import { Clock, Effect } from 'effect'
import type { Listener } from '#api/ir/types.gen.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import {
  CertificateReader,
  type CertificateState,
  type CertificateUse,
  periodAt,
  stateAt,
  type UsedCertificate,
} from '#api/tls/certificate-times.ts'
import { nameKey, refOf } from '../translate/object-ref.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import type { Occurrence } from './events.ts'
import { lookAgainAndAgain } from './look-again.ts'

/** Of one Gateway, the soonest to expire first. The metric of its proxies has all. */
const REPORTED_MAX = 10
/** In one message. */
const PLACES_MAX = 3
const DAY_MS = 24 * 3_600_000

const SUBJECTS: { readonly [U in CertificateUse]: string } = {
  server: 'the certificate',
  signer: 'the authority that signs certificates',
  client: 'the certificate shown to backends',
  client_authorities: 'an authority for certificates of clients',
  backend_authorities: 'an authority for certificates of backends',
}

const REASONS: { readonly [S in CertificateState]?: string } = {
  expiring: 'CertificateExpiring',
  expired: 'CertificateExpired',
  notYetValid: 'CertificateNotYetValid',
}

export interface CertificateSources {
  /** Those that stay, with what was rendered for them. */
  readonly gateways: () => readonly (readonly [Gateway, RenderedGateway])[]
  /** Receives everything to report now. */
  readonly report: (occurrences: readonly Occurrence[]) => void
}

export const followCertificates = Effect.fn('operator.certificates')(function* ({
  gateways,
  report,
}: CertificateSources) {
  let known = new Map<string, Read>()
  const look = Effect.gen(function* () {
    const read = new Map<string, Read>()
    const occurrences: Occurrence[] = []
    for (const [gateway, rendered] of gateways()) {
      const key = nameKey(gateway.metadata.namespace ?? '', gateway.metadata.name)
      const one = readAgain(known.get(key), rendered)
      read.set(key, one)
      occurrences.push(...occurrencesOfCertificates(gateway, one, yield* Clock.currentTimeMillis))
      // Reading the certificates of many Gateways at once would block the process for long.
      yield* Effect.yieldNow
    }
    known = read
    report(occurrences)
  })
  return yield* lookAgainAndAgain('certificates', look)
})

interface Read {
  readonly rendered: RenderedGateway
  readonly reader: CertificateReader
  readonly used: readonly UsedCertificate[]
}

/** Equal renderings are the same object. */
function readAgain(known: Read | undefined, rendered: RenderedGateway): Read {
  if (known?.rendered === rendered) return known
  const reader = known?.reader ?? new CertificateReader()
  return { rendered, reader, used: reader.read(rendered.config, rendered.secrets) }
}

interface Ending {
  readonly use: CertificateUse
  readonly secret: string | undefined
  readonly state: CertificateState
  readonly atMs: number
  readonly owners: string[]
}

function occurrencesOfCertificates(gateway: Gateway, { rendered, used }: Read, nowMs: number): Occurrence[] {
  const { uid } = gateway.metadata
  if (uid === undefined) return []
  const object = { ...refOf(gateway), uid }
  const listeners = new Map(rendered.config.listeners.map(({ key, name }) => [key, name]))
  return endingOf(used, nowMs)
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(0, REPORTED_MAX)
    .map((ending) => ({
      object,
      reason: REASONS[ending.state] ?? '',
      message: messageOf(ending, listeners),
      afterMs: 0,
      // Events expire within hours; a problem that still exists is reported again.
      turn: Math.floor((ending.atMs - nowMs) / DAY_MS),
    }))
}

/** One certificate may serve many listeners. */
function endingOf(used: readonly UsedCertificate[], nowMs: number): Ending[] {
  const endings = new Map<string, Ending>()
  for (const certificate of used) {
    const { use, owner, secret } = certificate
    const period = periodAt(certificate, nowMs)
    const state = stateAt(period, nowMs)
    if (REASONS[state] === undefined) continue
    const atMs = state === 'notYetValid' ? period.fromMs : period.untilMs
    const id = `${use} ${secret ?? ''} ${state} ${atMs}`
    const known = endings.get(id)
    if (known === undefined) endings.set(id, { use, secret, state, atMs, owners: [owner] })
    else known.owners.push(owner)
  }
  return [...endings.values()]
}

function messageOf(ending: Ending, listeners: ReadonlyMap<string, Listener['name']>): string {
  const { use, secret, state, atMs, owners } = ending
  const places = owners.slice(0, PLACES_MAX).map((owner) => placeOf(owner, listeners.get(owner)))
  if (owners.length > PLACES_MAX) places.push(`${owners.length - PLACES_MAX} more`)
  const subject = secret === undefined ? SUBJECTS[use] : `${SUBJECTS[use]} of Secret ${secretName(secret)}`
  const time = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${places.join(', ')}: ${subject} ${whatOf(state)} ${time}; ${cureOf(ending)}`
}

/** Other owners are policies, routes and backends, by their keys in `/config_dump`. */
function placeOf(owner: string, listener: Listener['name'] | undefined): string {
  if (listener === undefined) return owner
  const { listenerName, listenerSet } = listener
  if (listenerSet === undefined) return `listener ${listenerName}`
  return `listener ${listenerName} of ListenerSet ${nameKey(listenerSet.namespace, listenerSet.name)}`
}

function whatOf(state: CertificateState): string {
  if (state === 'notYetValid') return 'is not valid before'
  return state === 'expired' ? 'expired on' : 'expires on'
}

function cureOf({ secret, state }: Ending): string {
  if (secret === undefined) return 'add another one'
  return state === 'notYetValid' ? 'put one that is already valid into the Secret' : 'put a new one into the Secret'
}

/** Without the key of its value. */
function secretName(secret: string): string {
  return secret.split('/').slice(0, 2).join('/')
}
