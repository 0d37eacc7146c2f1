// Parents of routes and models, and Gateways of policies, behind lookups that stay the same from one translation to the
// next. Of a Gateway, results depend on its listeners only: another annotation of it is not a change here.
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { ClientCertificate } from './client-certificate.ts'
import type { OurGateway, OurGateways, OurListenerSet } from './gateways.ts'
import type { ListenerFault } from './listener.ts'
import type { Memory } from '../memory.ts'

export type ParentGateway = Pick<OurGateway, 'key' | 'listeners'>

export interface ParentListenerSet {
  readonly set: ListenerSet
  readonly parent: ParentGateway
  readonly refusal?: ListenerFault
}

/** The Gateways and ListenerSets that a parentRef may name. */
export interface ParentLookup {
  readonly gateways: { readonly get: (key: string) => ParentGateway | undefined }
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
  return {
    gateways: { get: (key) => memory.read(source, () => gateways.get(key), key) },
    listenerSets: { get: (key) => memory.read(source, () => listenerSets.get(key), setKey(key)) },
    certificateOf: (key) =>
      memory.read(source, () => entered.gateways.get(key)?.clientCertificate, certificateKey(key)),
    enter: (next) => {
      if (next === entered) return
      const [gatewaysBefore, setsBefore, enteredBefore] = [gateways, listenerSets, entered]
      gateways = new Map([...next.gateways].map(([key, ours]) => [key, parentAfter(gatewaysBefore.get(key), ours)]))
      listenerSets = new Map(
        [...next.listenerSets].map(([key, ours]) => [key, setAfter(setsBefore.get(key), ours, gateways)]),
      )
      entered = next
      const certificates = [enteredBefore, next].map((all) => ({
        get: (key: string) => all.gateways.get(key)?.clientCertificate,
      }))
      const keys = [...new Set([...gatewaysBefore.keys(), ...gateways.keys()])]
      const sets = [...new Set([...setsBefore.keys(), ...listenerSets.keys()])]
      const changed = [
        ...keys.filter((key) => gatewaysBefore.get(key) !== gateways.get(key)),
        ...sets.filter((key) => setsBefore.get(key) !== listenerSets.get(key)).map(setKey),
        ...keys.filter((key) => certificates[0]?.get(key) !== certificates[1]?.get(key)).map(certificateKey),
      ]
      if (changed.length > 0) memory.changed(source, changed)
    },
  }
}

function setKey(key: string): string {
  return `ListenerSet ${key}`
}

function certificateKey(key: string): string {
  return `certificate ${key}`
}

function parentAfter(before: ParentGateway | undefined, { key, listeners }: OurGateway): ParentGateway {
  return before?.listeners === listeners ? before : { key, listeners }
}

function setAfter(
  before: ParentListenerSet | undefined,
  { set, parent, refusal }: OurListenerSet,
  gateways: ReadonlyMap<string, ParentGateway>,
): ParentListenerSet {
  const own = gateways.get(parent.key) ?? parent
  if (before?.set === set && before.parent === own && before.refusal?.message === refusal?.message) return before
  return { set, parent: own, ...(refusal !== undefined && { refusal }) }
}
