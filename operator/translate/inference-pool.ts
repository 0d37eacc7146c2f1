// InferencePool of the Gateway API Inference Extension (inference.networking.k8s.io/v1), with the fields that
// translation reads and no more. Types only.
import type { KubeObject } from './kube.ts'

export interface InferencePool extends KubeObject {
  readonly kind: 'InferencePool'
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly targetPorts: ReadonlyArray<{ readonly number: number }>
    /** Of newer versions: the protocol of the model servers, as in a Service port. */
    readonly appProtocol?: string
    readonly endpointPickerRef: EndpointPickerRef
  }
  readonly status?: { readonly parents?: ReadonlyArray<{ readonly controllerName?: string }> }
}

export interface EndpointPickerRef {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  readonly port?: { readonly number: number }
  readonly failureMode?: 'FailOpen' | 'FailClose'
}
