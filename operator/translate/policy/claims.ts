// Who holds which field of which target: the oldest policy that sets it. Carried on from one translation to the next: a
// changed policy changes only its own targets.
import { Grouped } from '#api/incremental/grouped.ts'
import type { KubeObject } from '../kube.ts'
import type { Memory } from '../memory.ts'
import { describe, refOf } from '../object-ref.ts'
import { isSameMap } from '../same.ts'

export interface Claimant {
  /** The policy. */
  readonly owner: OwnerId
  /** By ResolvedTarget.key, the fields that the policy sets there (unitOf). */
  readonly claims: ReadonlyMap<string, readonly string[]>
}

export interface Unit {
  readonly section: string
  /** Traffic only; else empty. */
  readonly phase: string
  readonly suffix: string
}

/** A field that only one policy can set on a target. */
export function unitOf({ section, phase, suffix }: Unit): string {
  return `${section}/${phase}/${suffix}`
}

/** TLS towards a backend: the field of a GwPolicy that a BackendTLSPolicy sets as well. */
export const TLS_UNIT = unitOf({ section: 'backend', phase: '', suffix: 'tls' })

/** `Kind namespace/name` */
export type OwnerId = string

export function ownerOf(policy: KubeObject): OwnerId {
  return describe(refOf(policy))
}

/** `namespace/name`, as messages name it. */
export function nameOfOwner(owner: OwnerId): string {
  return owner.slice(owner.indexOf(' ') + 1)
}

/** By unit, the owner. */
export type Winners = ReadonlyMap<string, OwnerId>

export interface Claims {
  /** The winners at a target; undefined: only one policy has it, or none. */
  readonly contested: (target: string) => Winners | undefined
  readonly isClaimed: (target: string, unit: string) => boolean
}

/** `enter`: all policies, with precedence first. From now on lookups read these. */
export function claimTable(memory: Memory): Claims & { readonly enter: (claimants: readonly Claimant[]) => void } {
  const source = memory.source()
  let groups = Grouped.of<Claimant>([], targetsOf)
  const known = new Map<string, { readonly claimants: readonly Claimant[]; readonly winners: Winners }>()
  const winnersAt = (target: string): Winners | undefined => {
    const claimants = groups.at(target)
    if (claimants.length < 2) return undefined
    const before = known.get(target)
    if (before?.claimants === claimants) return before.winners
    const now = winnersOf(claimants, target)
    const winners = before !== undefined && isSameMap(before.winners, now) ? before.winners : now
    known.set(target, { claimants, winners })
    return winners
  }
  const hasClaim = (target: string, unit: string): boolean =>
    groups.at(target).some(({ claims }) => claims.get(target)?.includes(unit) === true)
  return {
    contested: (target) => memory.read(source, winnersAt, target),
    isClaimed: (target, unit) => memory.read(source, () => hasClaim(target, unit), target),
    enter(claimants) {
      const before = groups
      groups = before.after(claimants)
      const changed = groups.changedSince(before)
      for (const target of changed) if (groups.at(target).length < 2) known.delete(target)
      if (changed.length > 0) memory.changed(source, changed)
    },
  }
}

function targetsOf({ claims }: Claimant): readonly string[] {
  return [...claims.keys()]
}

function winnersOf(claimants: readonly Claimant[], target: string): Winners {
  const winners = new Map<string, OwnerId>()
  for (const { owner, claims } of claimants) {
    for (const unit of claims.get(target) ?? []) if (!winners.has(unit)) winners.set(unit, owner)
  }
  return winners
}
