// What the mesh's own ConfigMap says about it. Pure: the caller reads the ConfigMap.
import { parse } from 'yaml'
import { isJsonObject } from '../kube-object.ts'

const DEFAULT_REVISION = 'default'
const KEY = 'mesh'

/** Name of the ConfigMap in the namespace of the mesh. */
export function meshConfigMapName(revision: string): string {
  return revision === '' || revision === DEFAULT_REVISION ? 'istio' : `istio-${revision}`
}

/** undefined: it says nothing, or nothing readable. */
export function meshTrustDomain(data: Readonly<Record<string, string>> | undefined): string | undefined {
  const text = data?.[KEY]
  if (text === undefined) return undefined
  const config = readYaml(text)
  const domain = isJsonObject(config) ? config['trustDomain'] : undefined
  return typeof domain === 'string' && domain !== '' ? domain : undefined
}

function readYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    // The object of another owner: invalid YAML is ignored.
    return undefined
  }
}
