// The Deployment or DaemonSet of a Gateway before overlays: the base manifest, and what typed fields of parameters say.
import {
  CONTAINER_ARGS,
  METRICS_PORT,
  READINESS_PATH,
  READINESS_PORT,
  RUN_AS_USER,
} from '#api/delivery/pod-contract.ts'
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import type { EnvVar } from '#api/v1alpha1/gwparameters.gen.ts'
import { jsonCopy, type JsonObject } from './kube-object.ts'
import type { Labels, Strings } from './labels.ts'
import type { EffectiveParameters } from './parameters/effective.ts'
import { imageName } from './pod/image.ts'
import type { Volumes } from './pod/volumes.ts'
import { workloadManifest } from './templates/workload.ts'

const CONTAINER_NAME = 'gw'

export interface WorkloadInput {
  readonly metadata: ObjectMeta
  readonly labels: Labels
  readonly parameters: EffectiveParameters
  /** By name of the annotation. */
  readonly checksums: Strings
  readonly env: readonly EnvVar[]
  readonly volumes: Volumes
}

export function workload({ metadata, labels, parameters, checksums, env, volumes }: WorkloadInput): JsonObject {
  const base = workloadManifest({
    kind: parameters.workloadKind,
    isSpread: parameters.workloadKind === 'Deployment',
    metadata,
    selector: labels.selector,
    podLabels: labels.pods,
    podAnnotations: { ...labels.podAnnotations, ...checksums },
    serviceAccount: metadata.name,
    container: CONTAINER_NAME,
    args: CONTAINER_ARGS,
    user: RUN_AS_USER,
    metricsPort: METRICS_PORT,
    readinessPort: READINESS_PORT,
    readinessPath: READINESS_PATH,
  })
  const pod = {
    terminationGracePeriodSeconds: parameters.shutdown.max,
    volumes: jsonCopy(volumes.volumes),
  }
  const container = {
    image: imageName(parameters.image),
    ...(parameters.image.pullPolicy === undefined ? {} : { imagePullPolicy: parameters.image.pullPolicy }),
    env: jsonCopy(env),
    resources: jsonCopy(parameters.resources),
    volumeMounts: jsonCopy(volumes.mounts),
  }
  return withPod(base, pod, container)
}

/** The one container of the base manifest and its pod, completed. */
function withPod(base: JsonObject, pod: JsonObject, container: JsonObject): JsonObject {
  const spec = field(base, 'spec')
  const template = field(spec, 'template')
  const podSpec = field(template, 'spec')
  const containers = podSpec['containers']
  const first = Array.isArray(containers) ? containers[0] : undefined
  const completed = { ...(first as JsonObject), ...container }
  return {
    ...base,
    spec: { ...spec, template: { ...template, spec: { ...podSpec, ...pod, containers: [completed] } } },
  }
}

/** Of our own manifest, where it is a map. */
function field(object: JsonObject, name: string): JsonObject {
  return object[name] as JsonObject
}
