// Labels of a namespace, as selectors see them.
import type { Labels } from './labels.ts'
import type { Snapshot } from './snapshot.ts'

/** The API server puts the name label on every namespace; manifests in a folder may lack the Namespace object. */
export function namespaceLabels(snapshot: Snapshot, namespace: string): Labels {
  return { ...snapshot.Namespace.get('', namespace)?.metadata.labels, 'kubernetes.io/metadata.name': namespace }
}
