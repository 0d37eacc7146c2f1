// Whether the proxies of a Gateway join the mesh, and with which settings. Parameters win over the controller.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { MeshIntegration } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployInput, DeployProblem, MeshSettings } from '../input.ts'
import { refOf } from '../kube-object.ts'

export interface EffectiveMesh {
  readonly caAddress: string
  readonly trustDomain: string
  readonly additionalTrustDomains: readonly string[]
  readonly clusterId: string | undefined
  readonly network: string | undefined
}

type GatewayListener = Pick<Gateway['spec']['listeners'][number], 'protocol' | 'tls'>

const CA_ADDRESS = 'https://istiod.istio-system.svc:15012'
const TRUST_DOMAIN = 'cluster.local'

interface Levels {
  readonly ofClass: MeshIntegration | undefined
  readonly ofGateway: MeshIntegration | undefined
}

export function effectiveMesh(levels: Levels, settings: MeshSettings): EffectiveMesh | undefined {
  if (!isJoined(levels, settings)) return undefined
  const { ofClass, ofGateway } = levels
  const merged = { ...settings, ...ofClass, ...ofGateway }
  return {
    caAddress: merged.caAddress ?? CA_ADDRESS,
    trustDomain: merged.trustDomain ?? TRUST_DOMAIN,
    additionalTrustDomains: furtherDomains(ofGateway) ?? furtherDomains(ofClass) ?? [],
    clusterId: merged.clusterId,
    network: merged.network,
  }
}

/** An explicit word wins; else a block asks for it, even an empty one; else the controller decides. */
function isJoined({ ofClass, ofGateway }: Levels, { autoEnabled }: MeshSettings): boolean {
  const word = ofGateway?.enabled ?? ofClass?.enabled
  return word ?? (ofClass !== undefined || ofGateway !== undefined || autoEnabled)
}

/** Only a list that is not empty replaces another. */
function furtherDomains(level: MeshIntegration | undefined): readonly string[] | undefined {
  const domains = level?.additionalTrustDomains ?? []
  return domains.length > 0 ? domains : undefined
}

/** Reported at the Gateway whose listeners need a mesh that it is not part of. */
export function meshProblems(input: DeployInput, mesh: EffectiveMesh | undefined): DeployProblem[] {
  return mesh === undefined ? missingMesh(input) : []
}

/** Listeners whose handshakes fail because the proxies have no certificate of a mesh. */
function missingMesh({ gateway, meshListeners }: DeployInput): DeployProblem[] {
  const own = gateway.spec.listeners.flatMap((listener, at): DeployProblem[] => {
    const need = meshNeed(listener)
    if (need === undefined) return []
    return [notEnabled({ object: refOf(gateway), path: `spec.listeners[${at}]`, named: `${listener.name} (${need})` })]
  })
  const ofSets = meshListeners.map(({ set, listener }) =>
    notEnabled({ object: { ...LISTENER_SET, ...set }, path: 'spec.listeners', named: listener }),
  )
  return [...own, ...ofSets]
}

const LISTENER_SET = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'ListenerSet' }

/** What of a listener needs the certificate of a mesh; undefined: nothing. */
export function meshNeed({ protocol, tls }: GatewayListener): string | undefined {
  return protocol === 'HBONE' ? 'protocol HBONE' : tls?.options?.[MESH_OPTION]
}

interface NotEnabled extends Pick<DeployProblem, 'object' | 'path'> {
  readonly named: string
}

function notEnabled({ object, path, named }: NotEnabled): DeployProblem {
  const message = `listener ${named} rejects all handshakes: its proxies are not part of a mesh; ${ENABLE}`
  return { object, path, reason: 'MeshNotEnabled', message, severity: 'warning' }
}

const MESH_OPTION = 'gateway.istio.io/tls-terminate-mode'
const ENABLE = 'set meshIntegration in the GwParameters of the Gateway or of its class'
