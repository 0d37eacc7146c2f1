// Base manifest of the Service that traffic comes through.
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import { manifest } from './manifest.ts'

export interface ServiceValues {
  readonly metadata: ObjectMeta
  readonly selector: Readonly<Record<string, string>>
  readonly loadBalancerIp: string | undefined
  readonly ports: readonly { readonly name: string; readonly port: number }[]
}

export const serviceManifest = manifest<ServiceValues>(`
apiVersion: v1
kind: Service
metadata: {{yaml metadata}}
spec:
  type: LoadBalancer
{{#if loadBalancerIp}}
  loadBalancerIP: {{yaml loadBalancerIp}}
{{/if}}
  selector: {{yaml selector}}
  ports:
{{#each ports}}
    - name: {{yaml this.name}}
      protocol: TCP
      port: {{yaml this.port}}
      targetPort: {{yaml this.port}}
{{/each}}
`)
