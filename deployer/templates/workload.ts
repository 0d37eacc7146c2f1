// Base manifest of the Deployment or DaemonSet: everything that no parameter decides. No `replicas`: that belongs to
// the autoscaler or the overlay. No liveness probe: a proxy that hangs in a peer's work must not be killed for it.
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import { manifest } from './manifest.ts'

export interface WorkloadValues {
  readonly kind: 'Deployment' | 'DaemonSet'
  /** A DaemonSet has one pod on each node: nothing to spread. */
  readonly isSpread: boolean
  readonly metadata: ObjectMeta
  readonly selector: Readonly<Record<string, string>>
  readonly podLabels: Readonly<Record<string, string>>
  readonly podAnnotations: Readonly<Record<string, string>>
  readonly serviceAccount: string
  readonly container: string
  readonly args: readonly string[]
  readonly user: number
  readonly metricsPort: number
  readonly readinessPort: number
  readonly readinessPath: string
}

// Variables for each Service of a namespace are of no use here, and from some thousands on no program starts with them.
// A pod serves traffic for `min` seconds after it was asked to end (CONNECTION_MIN_TERMINATION_DEADLINE), so that no
// preStop hook has to hold it back while endpoints are updated. It counts as available a little after it is ready:
// nodes need that long to know the way to it, and a connection that is begun before may hang for good.
export const workloadManifest = manifest<WorkloadValues>(`
apiVersion: apps/v1
kind: {{yaml kind}}
metadata: {{yaml metadata}}
spec:
  minReadySeconds: 2
  selector:
    matchLabels: {{yaml selector}}
  template:
    metadata:
      labels: {{yaml podLabels}}
      annotations: {{yaml podAnnotations}}
    spec:
      serviceAccountName: {{yaml serviceAccount}}
      automountServiceAccountToken: true
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
        sysctls:
          - name: net.ipv4.ip_unprivileged_port_start
            value: "0"
{{#if isSpread}}
      topologySpreadConstraints:
        - topologyKey: kubernetes.io/hostname
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{yaml selector}}
        - topologyKey: topology.kubernetes.io/zone
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{yaml selector}}
{{/if}}
      containers:
        - name: {{yaml container}}
          args: {{yaml args}}
          ports:
            - name: metrics
              containerPort: {{yaml metricsPort}}
              protocol: TCP
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              drop: [ALL]
            readOnlyRootFilesystem: true
            runAsNonRoot: true
            runAsUser: {{yaml user}}
          readinessProbe:
            httpGet:
              path: {{yaml readinessPath}}
              port: {{yaml readinessPort}}
            periodSeconds: 10
          startupProbe:
            httpGet:
              path: {{yaml readinessPath}}
              port: {{yaml readinessPort}}
            periodSeconds: 1
            timeoutSeconds: 2
            failureThreshold: 60
            successThreshold: 1
`)
