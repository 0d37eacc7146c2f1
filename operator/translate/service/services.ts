// Services by name, for references.
import { HOSTNAMES } from '../hostname-texts.ts'
import type { Service } from '../kube.ts'
import type { Snapshot } from '../snapshot.ts'

export interface Services {
  readonly get: (namespace: string, name: string) => Service | undefined
  readonly hostname: (namespace: string, name: string) => string
}

export function serviceLookup(snapshot: Pick<Snapshot, 'Service'>, clusterDomain: string): Services {
  return {
    get: snapshot.Service.get,
    hostname: (namespace, name) => HOSTNAMES.of(`${name}.${namespace}.svc.${clusterDomain}`),
  }
}
