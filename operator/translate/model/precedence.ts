// Which of several models answers for a name at one listener, and in which order models are tried there. Names of an
// older model of another namespace stay with that model, whatever the names of newer objects are.
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import type { RouteListener } from '../gateway/listener.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import { compareByAge, compareText } from '../order.ts'
import { isPattern, offeredName } from './names.ts'

export interface Offer {
  readonly model: GwModel
  /** The name that clients use, or a pattern of names. */
  readonly name: string
  readonly isVirtual: boolean
}

export interface Precedence<O> {
  /** In the order in which they are tried. */
  readonly offered: readonly O[]
  /** By the offer that has no effect: the older one of another namespace that has its name. */
  readonly overridden: ReadonlyMap<O, O>
}

/** Every name belongs to the namespace of the oldest model that has it. */
export function precedenceOf<O extends Offer>(offers: readonly O[]): Precedence<O> {
  const owners = new Map<string, O>()
  const overridden = new Map<O, O>()
  const kept: O[] = []
  for (const offer of [...offers].sort((a, b) => compareByAge(a.model, b.model))) {
    const owner = owners.get(offer.name)
    if (owner === undefined) owners.set(offer.name, offer)
    if (owner === undefined || namespaceOf(owner.model) === namespaceOf(offer.model)) kept.push(offer)
    else overridden.set(offer, owner)
  }
  return { offered: inOrder(kept), overridden }
}

/** For the status of the model that has no effect at the listener. */
export function overriddenLine({ spec }: RouteListener, winner: GwModel): string {
  const name = JSON.stringify(offeredName(winner))
  const owner = `the older GwModel ${keyOf(winner)}`
  return `model name ${name} at listener ${spec.name} belongs to ${owner}; choose another name in spec.match.model`
}

/**
 * Older ones first. Within a namespace a model is tried right before an older one whose pattern includes all its names:
 * this takes nothing from other namespaces, because the older model answered these names already.
 */
function inOrder<O extends Offer>(oldestFirst: readonly O[]): O[] {
  const ofNamespaces = Map.groupBy(oldestFirst, ({ model }) => namespaceOf(model))
  const ranked = [...ofNamespaces].flatMap(([namespace, offers]) => {
    const patterns = offers.filter(({ name }) => isPattern(name))
    const byName = new Map(offers.toReversed().map((offer) => [offer.name, offer]))
    return offers.map((offer) => {
      // Both lists are in order of age, and a model covers its own name.
      const covering = [byName.get(offer.name), patterns.find(({ name }) => covers(name, offer.name))]
      const times = covering.flatMap((one) => (one === undefined ? [] : (one.model.metadata.creationTimestamp ?? '')))
      return { offer, namespace, since: times.toSorted(compareText)[0] ?? '' }
    })
  })
  return ranked
    .sort(
      (a, b) =>
        compareText(a.since, b.since) || compareText(a.namespace, b.namespace) || moreSpecific(a.offer, b.offer),
    )
    .map(({ offer }) => offer)
}

function moreSpecific(a: Offer, b: Offer): number {
  const isPatternFirst = Number(isPattern(a.name)) - Number(isPattern(b.name))
  const isLonger = isPattern(a.name) ? b.name.length - a.name.length : 0
  return (
    Number(b.isVirtual) - Number(a.isVirtual) ||
    isPatternFirst ||
    isLonger ||
    compareText(a.model.metadata.name, b.model.metadata.name)
  )
}

/** Whether every name that the second one matches is one of the first. */
function covers(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true
  const star = pattern.indexOf('*')
  if (star === pattern.length - 1) return name.startsWith(pattern.slice(0, -1))
  return star === 0 && name.endsWith(pattern.slice(1))
}
