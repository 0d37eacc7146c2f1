// An object as translation sees it: the same one for as long as nothing but its status changes, because translation
// remembers by identity what an object came to, and every status that we write comes back as a change.
import type { KubeObject } from '../translate/kube.ts'
import { statusOf } from './status-of.ts'

/** Translation computes nothing from the status of these kinds; it only looks for entries of ours. */
export const LIVE_STATUS: ReadonlySet<string> = new Set([
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'BackendTLSPolicy',
  'GwBackend',
  'GwPolicy',
  'GwModel',
  'InferencePool',
])

export class StableView {
  readonly object: KubeObject
  #status: unknown

  constructor(object: KubeObject) {
    this.#status = statusOf(object)
    if (!LIVE_STATUS.has(object.kind)) {
      this.object = object
      return
    }
    const view = { ...object }
    Object.defineProperty(view, 'status', { enumerable: true, get: () => this.#status })
    this.object = view
  }

  /** False: the change has to be seen. */
  keeps(after: KubeObject): boolean {
    if (!LIVE_STATUS.has(after.kind)) return false
    this.#status = statusOf(after)
    return true
  }
}
