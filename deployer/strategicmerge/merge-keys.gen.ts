// Generated from the OpenAPI of Kubernetes 1.34 by hack/update-merge-keys.sh, not make generate. Do not edit.
import type { MergeField } from './merge-field.ts'

export const KIND_TYPES: Readonly<Record<string, string>> = {
  "ServiceAccount": "core.v1.ServiceAccount",
  "Service": "core.v1.Service",
  "Deployment": "apps.v1.Deployment",
  "DaemonSet": "apps.v1.DaemonSet",
  "PodDisruptionBudget": "policy.v1.PodDisruptionBudget",
  "HorizontalPodAutoscaler": "autoscaling.v2.HorizontalPodAutoscaler"
}

export const MERGE_FIELDS: Readonly<Record<string, Readonly<Record<string, MergeField>>>> = {
  "apps.v1.DaemonSet": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "spec": {
      "type": "apps.v1.DaemonSetSpec"
    },
    "status": {
      "type": "apps.v1.DaemonSetStatus"
    }
  },
  "apps.v1.DaemonSetSpec": {
    "template": {
      "type": "core.v1.PodTemplateSpec"
    }
  },
  "apps.v1.DaemonSetStatus": {
    "conditions": {
      "key": "type",
      "strategy": "merge"
    }
  },
  "apps.v1.Deployment": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "spec": {
      "type": "apps.v1.DeploymentSpec"
    },
    "status": {
      "type": "apps.v1.DeploymentStatus"
    }
  },
  "apps.v1.DeploymentSpec": {
    "strategy": {
      "strategy": "retainKeys"
    },
    "template": {
      "type": "core.v1.PodTemplateSpec"
    }
  },
  "apps.v1.DeploymentStatus": {
    "conditions": {
      "key": "type",
      "strategy": "merge"
    }
  },
  "autoscaling.v2.HorizontalPodAutoscaler": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "status": {
      "type": "autoscaling.v2.HorizontalPodAutoscalerStatus"
    }
  },
  "autoscaling.v2.HorizontalPodAutoscalerStatus": {
    "conditions": {
      "key": "type",
      "strategy": "merge"
    }
  },
  "core.v1.Container": {
    "env": {
      "key": "name",
      "strategy": "merge"
    },
    "ports": {
      "key": "containerPort",
      "strategy": "merge"
    },
    "volumeDevices": {
      "key": "devicePath",
      "strategy": "merge"
    },
    "volumeMounts": {
      "key": "mountPath",
      "strategy": "merge"
    }
  },
  "core.v1.EphemeralContainer": {
    "env": {
      "key": "name",
      "strategy": "merge"
    },
    "ports": {
      "key": "containerPort",
      "strategy": "merge"
    },
    "volumeDevices": {
      "key": "devicePath",
      "strategy": "merge"
    },
    "volumeMounts": {
      "key": "mountPath",
      "strategy": "merge"
    }
  },
  "core.v1.EphemeralVolumeSource": {
    "volumeClaimTemplate": {
      "type": "core.v1.PersistentVolumeClaimTemplate"
    }
  },
  "core.v1.PersistentVolumeClaimTemplate": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    }
  },
  "core.v1.PodSpec": {
    "containers": {
      "type": "core.v1.Container",
      "key": "name",
      "strategy": "merge"
    },
    "ephemeralContainers": {
      "type": "core.v1.EphemeralContainer",
      "key": "name",
      "strategy": "merge"
    },
    "hostAliases": {
      "key": "ip",
      "strategy": "merge"
    },
    "imagePullSecrets": {
      "key": "name",
      "strategy": "merge"
    },
    "initContainers": {
      "type": "core.v1.Container",
      "key": "name",
      "strategy": "merge"
    },
    "resourceClaims": {
      "key": "name",
      "strategy": "merge,retainKeys"
    },
    "schedulingGates": {
      "key": "name",
      "strategy": "merge"
    },
    "topologySpreadConstraints": {
      "key": "topologyKey",
      "strategy": "merge"
    },
    "volumes": {
      "type": "core.v1.Volume",
      "key": "name",
      "strategy": "merge,retainKeys"
    }
  },
  "core.v1.PodTemplateSpec": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "spec": {
      "type": "core.v1.PodSpec"
    }
  },
  "core.v1.Service": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "spec": {
      "type": "core.v1.ServiceSpec"
    },
    "status": {
      "type": "core.v1.ServiceStatus"
    }
  },
  "core.v1.ServiceAccount": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "secrets": {
      "key": "name",
      "strategy": "merge"
    }
  },
  "core.v1.ServiceSpec": {
    "ports": {
      "key": "port",
      "strategy": "merge"
    }
  },
  "core.v1.ServiceStatus": {
    "conditions": {
      "key": "type",
      "strategy": "merge"
    }
  },
  "core.v1.Volume": {
    "ephemeral": {
      "type": "core.v1.EphemeralVolumeSource"
    }
  },
  "meta.v1.ObjectMeta": {
    "finalizers": {
      "strategy": "merge"
    },
    "ownerReferences": {
      "key": "uid",
      "strategy": "merge"
    }
  },
  "policy.v1.PodDisruptionBudget": {
    "metadata": {
      "type": "meta.v1.ObjectMeta"
    },
    "spec": {
      "type": "policy.v1.PodDisruptionBudgetSpec"
    },
    "status": {
      "type": "policy.v1.PodDisruptionBudgetStatus"
    }
  },
  "policy.v1.PodDisruptionBudgetSpec": {
    "selector": {
      "strategy": "replace"
    }
  },
  "policy.v1.PodDisruptionBudgetStatus": {
    "conditions": {
      "key": "type",
      "strategy": "merge"
    }
  }
}
