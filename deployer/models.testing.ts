// What the models of Kubernetes say about rendered objects. For tests.
import { DaemonSet } from 'kubernetes-models/apps/v1/DaemonSet'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Role } from 'kubernetes-models/rbac.authorization.k8s.io/v1/Role'
import { RoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import type { KubeObject } from './kube-object.ts'

interface Model {
  validate(): void
}

// Each model takes its own type and checks at run time that it is that.
const MODELS: Readonly<Record<string, new (data: never) => Model>> = {
  ConfigMap,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
}

export function modelProblems(object: KubeObject): string[] {
  const Kind = MODELS[object.kind]
  if (Kind === undefined) return [`${object.kind}: no model`]
  try {
    new Kind(object as never).validate()
    return []
  } catch (error) {
    return [`${object.kind} ${object.metadata.name}: ${error instanceof Error ? error.message : String(error)}`]
  }
}
