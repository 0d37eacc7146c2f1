// From a Gateway and its parameters to the objects that run it. Pure: no cluster, clock, randomness or environment, and
// nothing is thrown for user input. Order: base manifests, typed fields of class and Gateway, overlays of both.
import { createHash } from 'node:crypto'
import { BOOTSTRAP_KEY, deliveryRules } from '#api/delivery/pod-contract.ts'
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { ObjectMeta, OwnerReference } from '#api/kube/object-meta.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { wantedAddress } from './address.ts'
import { bootstrapConfig, logLevelOf } from './bootstrap-config.ts'
import type { DeployInput, DeployProblem, DeployResult } from './input.ts'
import { type JsonObject, type KubeObject, refOf } from './kube-object.ts'
import {
  CLASS_NAME_LABEL,
  infrastructureProblems,
  type Labels,
  labelsOf,
  MANAGED_BY_LABEL,
  type Strings,
} from './labels.ts'
import { overlayLayers, type Overlaid, type ParametersLevel, withOverlays } from './overlay.ts'
import { compatibilityProblems } from './parameters/compatibility.ts'
import { type EffectiveParameters, effectiveParameters } from './parameters/effective.ts'
import { meshProblems } from './parameters/mesh.ts'
import { environment, hasOwnSessionKey } from './pod/environment.ts'
import { volumesOf } from './pod/volumes.ts'
import { GatewayLimits } from './restrictions/gateway-limits.ts'
import { type ScalingInput, scalingObjects } from './scaling.ts'
import { servicePorts } from './service-ports.ts'
import { SESSION_KEY_FIELD, type SessionKey, sessionKeyName, sessionKeyOf } from './session-key.ts'
import { roleBindingManifest, roleManifest, serviceAccountManifest } from './templates/identity.ts'
import { serviceManifest } from './templates/service.ts'
import { configMapManifest, sessionKeyManifest } from './templates/settings.ts'
import { workload } from './workload.ts'

export function renderDeployment(input: DeployInput): DeployResult {
  const frame = frameOf(input)
  const parts = [identity(frame), settings(frame), service(frame), workloadObjects(frame)]
  const problems = [
    ...infrastructureProblems(input.gateway),
    ...frame.limits.infrastructureProblems(),
    ...frame.limits.typedProblems(),
    ...compatibilityProblems(input, frame.parameters.workloadKind),
    ...meshProblems(input, frame.parameters.mesh),
    ...parts.flatMap((part) => part.problems),
  ]
  const isBroken = problems.some(({ severity }) => severity === 'error')
  return { objects: isBroken ? [] : parts.flatMap((part) => part.objects), problems }
}

/** What all parts need. */
interface Frame {
  readonly input: DeployInput
  readonly parameters: EffectiveParameters
  readonly limits: GatewayLimits
  /** Of the class and of the Gateway, in the order their overlays are applied. */
  readonly levels: readonly ParametersLevel[]
  readonly labels: Labels
  /** Of every object but the session key. */
  readonly metadata: ObjectMeta
  readonly config: string
  /** undefined: the user gives it. */
  readonly sessionKey: SessionKey | undefined
}

interface Part {
  readonly objects: readonly KubeObject[]
  readonly problems: readonly DeployProblem[]
}

function frameOf(input: DeployInput): Frame {
  const { gateway, classParameters, gatewayParameters } = input
  const parameters = effectiveParameters({ ofClass: classParameters, ofGateway: gatewayParameters }, input.settings)
  const limits = new GatewayLimits(input)
  const labels = labelsOf(gateway, { version: input.settings.version, isInMesh: parameters.mesh !== undefined })
  return {
    input,
    parameters,
    limits,
    levels: [
      { parameters: classParameters, limits: undefined },
      { parameters: gatewayParameters, limits },
    ],
    labels,
    metadata: metadataOf(gateway, { labels: labels.objects, annotations: labels.annotations }),
    config: bootstrapConfig(parameters),
    sessionKey: hasOwnSessionKey(parameters.env) ? undefined : sessionKeyOf(gateway, input.sessionKey),
  }
}

function metadataOf(gateway: Gateway, given: { readonly labels: Strings; readonly annotations: Strings }): ObjectMeta {
  const { name, namespace, uid } = gateway.metadata
  // Only what is in a cluster has a uid; manifests are rendered without an owner.
  const owner: OwnerReference[] =
    uid === undefined
      ? []
      : [{ apiVersion: gateway.apiVersion, kind: 'Gateway', name, uid, controller: true, blockOwnerDeletion: true }]
  return {
    name: safeName(name),
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...given.labels },
    ...(Object.keys(given.annotations).length > 0 ? { annotations: { ...given.annotations } } : {}),
    ...(owner.length > 0 ? { ownerReferences: owner } : {}),
  }
}

function identity({ input, levels, metadata }: Frame): Part {
  const account = withOverlays(serviceAccountManifest({ metadata }), overlayLayers('serviceAccount', levels))
  const rules = deliveryRules(input.gateway.metadata.name)
  const namespace = refOf(input.gateway).namespace
  return {
    objects: [
      account.object,
      plain(roleManifest({ metadata, rules })),
      plain(roleBindingManifest({ metadata, name: metadata.name, namespace })),
    ],
    problems: account.problems,
  }
}

/** What the pods start with. */
function settings({ input, metadata, config, labels, sessionKey }: Frame): Part {
  const configMap = plain(configMapManifest({ metadata, key: BOOTSTRAP_KEY, config }))
  if (sessionKey === undefined || sessionKey === 'unknown') return { objects: [configMap], problems: [] }
  if ('problem' in sessionKey) return { objects: [configMap], problems: [sessionKey.problem] }
  const { gateway } = input
  const { labels: all, annotations: _, ...rest } = metadata
  const own = Object.entries({ ...labels.selector, ...all }).filter(([key]) => KEY_LABELS.has(key))
  const secret = sessionKeyManifest({
    metadata: { ...rest, name: sessionKeyName(gateway.metadata.name), labels: Object.fromEntries(own) },
    value: Buffer.from(sessionKey.key).toString('base64'),
  })
  return { objects: [configMap, plain(secret)], problems: [] }
}

/** The Secret is never written again: it has only labels that do not change. */
const KEY_LABELS: ReadonlySet<string> = new Set([GATEWAY_NAME_LABEL, MANAGED_BY_LABEL, CLASS_NAME_LABEL])

function service({ input, levels, metadata, labels }: Frame): Part {
  const { gateway } = input
  const ports = servicePorts(input.ports, input.settings.dummyPort)
  const address = wantedAddress(gateway)
  const base = serviceManifest({ metadata, selector: labels.selector, loadBalancerIp: address.ip, ports })
  const overlaid = withOverlays(base, overlayLayers('service', levels))
  return {
    objects: [overlaid.object],
    problems: [...portProblems(gateway, ports), ...address.problems, ...overlaid.problems],
  }
}

function portProblems(gateway: Gateway, ports: readonly unknown[]): DeployProblem[] {
  if (ports.length > 0) return []
  const message = 'no valid ports: add a listener whose port is neither internal nor reserved by the proxy'
  return [{ object: refOf(gateway), path: 'spec.listeners', reason: 'NoValidPorts', message, severity: 'error' }]
}

function workloadObjects(frame: Frame): Part {
  const { levels, parameters, metadata, labels } = frame
  const field = parameters.workloadKind === 'Deployment' ? 'deployment' : 'daemonSet'
  const overlaid = withOverlays(plainWorkload(frame), overlayLayers(field, levels))
  const scaling: ScalingInput = {
    levels,
    workload: overlaid.object,
    metadata: { ...metadata, labels: { ...(overlaid.object.metadata.labels ?? labels.objects) } },
  }
  const others: readonly Overlaid[] = scalingObjects(scaling)
  return {
    objects: [overlaid.object, ...others.map(({ object }) => object)],
    problems: [...overlaid.problems, ...others.flatMap(({ problems }) => problems)],
  }
}

function plainWorkload({ input, parameters, metadata, labels, config, sessionKey }: Frame): JsonObject {
  const { name } = input.gateway.metadata
  const volumes = volumesOf({
    gatewayName: name,
    configMap: metadata.name,
    isInMesh: parameters.mesh !== undefined,
    catalogs: parameters.catalogs,
  })
  const checksum = typeof sessionKey === 'object' && 'checksum' in sessionKey ? sessionKey.checksum : undefined
  return workload({
    metadata,
    labels,
    parameters,
    checksums: {
      'checksum/config': createHash('sha256').update(config).digest('hex'),
      ...(checksum === undefined ? {} : { 'checksum/session-key': checksum }),
    },
    env: environment({
      gatewayName: name,
      parameters,
      logLevel: logLevelOf(parameters),
      sessionKey: sessionKey === undefined ? undefined : { name: sessionKeyName(name), key: SESSION_KEY_FIELD },
      catalogPaths: volumes.catalogPaths,
      further: input.settings.environment,
    }),
    volumes,
  })
}

function plain(manifest: JsonObject): KubeObject {
  return withOverlays(manifest, []).object
}
