// Parents of routes and models, and Gateways of policies, behind lookups that stay the same from one translation to the
// next. Of a Gateway, results depend on its listeners only: another annotation of it is not a change here, nor is
// another certificate.
import { isIdentical } from '#api/incremental/identical.ts'
import type { ClientCertificate } from './client-certificate.ts'
import type { OurGateway, OurGateways, OurListenerSet } from './gateways.ts'
import type { ListenerFault, RouteListener } from './listener.ts'
import type { Memory } from '../memory.ts'

/** A Gateway or ListenerSet as its routes, models and policies depend on it. */
export interface ParentGateway {
  readonly key: string
  /** Its own ones, without those of ListenerSets. */
  readonly listeners: readonly RouteListener[]
  /** The same by name. */
  readonly sections: ReadonlyMap<string, readonly RouteListener[]>
  /** Of all listeners. */
  readonly ports: readonly number[]
}

export interface ParentListenerSet {
  /** Key of the Gateway. */
  readonly parent: string
  readonly listeners: readonly RouteListener[]
  readonly refusal?: ListenerFault
}

/** The Gateways and ListenerSets that a parentRef may name. */
export interface ParentLookup {
  readonly gateways: { readonly get: (key: string) => ParentGateway | undefined }
  /** The Gateway's own listeners of that name: a change of others does not concern the caller. */
  readonly section: (key: string, name: string) => readonly RouteListener[]
  readonly listenerSets: { readonly get: (key: string) => ParentListenerSet | undefined }
  /** Of a Gateway. */
  readonly certificateOf: (key: string) => ClientCertificate | undefined
}

/** `enter`: from now on lookups read these. */
export function parentLookup(memory: Memory): ParentLookup & { readonly enter: (gateways: OurGateways) => void } {
  const source = memory.source()
  let entered: OurGateways = { gateways: new Map(), listenerSets: new Map() }
  let gateways: ReadonlyMap<string, ParentGateway> = new Map()
  let listenerSets: ReadonlyMap<string, ParentListenerSet> = new Map()
  const gatewayAt = (key: string): ParentGateway | undefined => gateways.get(key)
  return {
    gateways: { get: (key) => memory.read(source, gatewayAt, key) },
    section: (key, name) =>
      memory.read(source, () => gateways.get(key)?.sections.get(name) ?? NONE, sectionKey(key, name)),
    listenerSets: { get: (key) => memory.read(source, () => listenerSets.get(key), setKey(key)) },
    certificateOf: (key) =>
      memory.read(source, () => entered.gateways.get(key)?.clientCertificate, certificateKey(key)),
    enter: (next) => {
      if (next === entered) return
      const [gatewaysBefore, setsBefore, enteredBefore] = [gateways, listenerSets, entered]
      gateways = new Map(
        [...next.gateways].map(([key, ours]) => {
          const before = gatewaysBefore.get(key)
          const isSame = before !== undefined && enteredBefore.gateways.get(key) === ours
          return [key, isSame ? before : gatewayAfter(before, ours)]
        }),
      )
      listenerSets = new Map([...next.listenerSets].map(([key, ours]) => [key, setAfter(setsBefore.get(key), ours)]))
      entered = next
      const isRenewed = (key: string): boolean =>
        enteredBefore.gateways.get(key)?.clientCertificate !== next.gateways.get(key)?.clientCertificate
      const keys = [...new Set([...gatewaysBefore.keys(), ...gateways.keys()])]
      const sets = [...new Set([...setsBefore.keys(), ...listenerSets.keys()])]
      const changed = [
        ...keys.flatMap((key) => changedKeys(key, gatewaysBefore.get(key), gateways.get(key))),
        ...sets.filter((key) => setsBefore.get(key) !== listenerSets.get(key)).map(setKey),
        ...keys.filter(isRenewed).map(certificateKey),
      ]
      if (changed.length > 0) memory.changed(source, changed)
    },
  }
}

const NONE: readonly RouteListener[] = []

/** Of a Gateway and its listeners. */
function changedKeys(key: string, before: ParentGateway | undefined, now: ParentGateway | undefined): string[] {
  if (before === now) return []
  const names = new Set([before, now].flatMap((gateway) => [...(gateway?.sections.keys() ?? [])]))
  const changed = [...names].filter((name) => before?.sections.get(name) !== now?.sections.get(name))
  return [key, ...changed.map((name) => sectionKey(key, name))]
}

function sectionKey(key: string, name: string): string {
  return `${key} ${name}`
}

function setKey(key: string): string {
  return `ListenerSet ${key}`
}

function certificateKey(key: string): string {
  return `certificate ${key}`
}

function gatewayAfter(before: ParentGateway | undefined, { key, listeners: all }: OurGateway): ParentGateway {
  const own = all.flatMap(({ set, forRoutes }) => (set === undefined ? [forRoutes] : []))
  const ports = [...new Set(all.map(({ spec }) => spec.port))]
  const isSame = before !== undefined && isIdentical(before.listeners, own) && isIdentical(before.ports, ports)
  if (isSame) return before
  const sections = new Map<string, readonly RouteListener[]>()
  for (const [name, listeners] of Map.groupBy(own, ({ spec }) => spec.name)) {
    const known = before?.sections.get(name)
    sections.set(name, known !== undefined && isIdentical(known, listeners) ? known : listeners)
  }
  return { key, listeners: own, sections, ports }
}

function setAfter(before: ParentListenerSet | undefined, { set, parent, refusal }: OurListenerSet): ParentListenerSet {
  const listeners = parent.listeners.flatMap((one) => (one.set === set ? [one.forRoutes] : []))
  const isSame =
    before?.parent === parent.key &&
    isIdentical(before.listeners, listeners) &&
    before.refusal?.message === refusal?.message
  return isSame ? before : { parent: parent.key, listeners, ...(refusal !== undefined && { refusal }) }
}
